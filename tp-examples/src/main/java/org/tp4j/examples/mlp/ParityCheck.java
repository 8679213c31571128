package org.tp4j.examples.mlp;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.tp4j.autograd.Tensors;
import org.tp4j.comm.ProcessGroup;
import org.tp4j.comm.World;
import org.tp4j.layout.DTensor;
import org.tp4j.mesh.DeviceMesh;
import org.tp4j.nn.Module;
import org.tp4j.tensor.Backend;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.GradMode;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Scope;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.Tensor;

/**
 * Whether T ranks have come where one comes: rank 0 trains the same once more, alone.
 *
 * <p>The ranks' sums round differently from one rank's, by a unit in the last place, and training is chaotic: what begins so
 * small hardly grows within the default settings, and without limit in long or wild trainings. Where differences exceed their
 * bound, both therefore train one epoch in float64, whose rounding is 10⁹ times smaller: what differs then is computed
 * differently.
 *
 * @param alone what one rank gave
 * @param own largest differences as trained
 * @param doubles largest differences after an epoch in float64, if that was needed
 */
@SuppressWarnings("try") // scopes that only own
record ParityCheck(
        TrainingResult alone, Difference own, @Nullable Difference doubles) {
    /**
     * Largest differences between two trainings.
     *
     * @param dtype they computed in
     * @param loss between losses of a step
     * @param parameter between trained values
     * @param worst the parameter in which that is
     */
    record Difference(DType dtype, double loss, double parameter, String worst) {
        boolean passed() {
            return loss <= lossBound() && parameter <= parameterBound();
        }

        /** About 100 times what default settings give; a forgotten sum or another mask gives differences near 1. */
        double lossBound() {
            return switch (dtype) {
                case FLOAT64 -> 1e-6;
                case FLOAT32 -> 1e-4;
                default -> 0.1;
            };
        }

        double parameterBound() {
            return switch (dtype) {
                case FLOAT64 -> 1e-6;
                case FLOAT32 -> 1e-3;
                default -> 0.1;
            };
        }
    }

    boolean passed() {
        return own.passed() || doubles != null && doubles.passed();
    }

    /** What a training leaves: its losses and all of its parameters. */
    record Trained(TrainingResult result, Map<String, double[]> values) {
        /** Gathers the parameters; collective over the ranks that trained. */
        static Trained of(MlpTraining training, TrainingResult result) {
            return new Trained(result, valuesOf(training.model()));
        }

        private static Map<String, double[]> valuesOf(Module model) {
            Map<String, double[]> values = new LinkedHashMap<>();
            try (Scope scope = Scope.open("parameters gathered");
                    GradMode off = GradMode.noGrad()) {
                model.state().forEach((name, tensor) -> {
                    Tensor whole = tensor instanceof DTensor split ? split.fullTensor() : tensor;
                    values.put(name, whole.toDoubles());
                });
            }
            return values;
        }
    }

    /** Trains once more and compares. Collective; null on all ranks but the first. */
    static @Nullable ParityCheck run(
            World world, MlpTraining training, TrainingResult result, MlpSettings settings, Digits digits) {
        ProcessGroup solo = world.group().split("solo", world.rank(), 0);
        DeviceMesh one = DeviceMesh.of(solo, world.backend(), List.of(Map.entry("tp", 1)));
        Trained split = Trained.of(training, result);
        Trained alone = world.rank() == 0 ? train(one, settings, digits) : null;
        Difference own = alone == null ? null : compare(settings.dtype(), split, alone);
        Difference doubles = null;
        if (firstSays(world, own != null && !own.passed())) {
            MlpSettings exact = settings.withDtype(DType.FLOAT64).withEpochs(1);
            Trained exactSplit = train(training.mesh(), exact, digits);
            if (world.rank() == 0) {
                doubles = compare(DType.FLOAT64, exactSplit, train(one, exact, digits));
            }
        }
        return alone == null ? null : new ParityCheck(alone.result(), Objects.requireNonNull(own), doubles);
    }

    private static Trained train(DeviceMesh mesh, MlpSettings settings, Digits digits) {
        MlpTraining training = new MlpTraining(mesh, settings, digits);
        return Trained.of(training, training.train(TrainingListener.SILENT));
    }

    /** What rank 0 says, on every rank. */
    private static boolean firstSays(World world, boolean mine) {
        Backend backend = world.backend();
        NdArray word = NdArray.full(backend, DType.FLOAT32, Shape.of(1), mine ? 1 : 0);
        world.group().broadcast(word, 0).await();
        return Tensors.of(word).item() != 0;
    }

    /** The largest differences; infinite where there is no number. */
    static Difference compare(DType dtype, Trained one, Trained other) {
        double loss = largest(numbers(one.result.stepLosses()), numbers(other.result.stepLosses()));
        double parameter = 0;
        String worst = "";
        for (Map.Entry<String, double[]> entry : one.values.entrySet()) {
            double largest = largest(entry.getValue(), Objects.requireNonNull(other.values.get(entry.getKey())));
            if (worst.isEmpty() || largest > parameter) {
                parameter = largest;
                worst = entry.getKey();
            }
        }
        return new Difference(dtype, loss, parameter, worst);
    }

    private static double[] numbers(List<Double> values) {
        return values.stream().mapToDouble(Double::doubleValue).toArray();
    }

    private static double largest(double[] a, double[] b) {
        double largest = 0;
        for (int i = 0; i < a.length; i++) {
            double difference = Math.abs(a[i] - b[i]);
            largest = Math.max(largest, Double.isNaN(difference) ? Double.POSITIVE_INFINITY : difference);
        }
        return largest;
    }
}
