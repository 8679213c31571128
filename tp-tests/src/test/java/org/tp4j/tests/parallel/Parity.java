package org.tp4j.tests.parallel;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Supplier;
import org.tp4j.autograd.Tensors;
import org.tp4j.comm.World;
import org.tp4j.cpu.CpuBackend;
import org.tp4j.layout.DTensor;
import org.tp4j.mesh.DeviceMesh;
import org.tp4j.nn.Gradients;
import org.tp4j.nn.Layer;
import org.tp4j.parallel.ParallelStyle;
import org.tp4j.parallel.Parallelize;
import org.tp4j.tensor.Backend;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.Tensor;
import org.tp4j.threads.ThreadRanks;

/**
 * A model on T ranks against the same on one: output, the input's gradient and every parameter's, for the loss sum(Y ∘ G).
 * Weights and numbers are those the seed gives, on one rank as on T.
 */
final class Parity {
    /** Sums of a few dozen terms of size 1 in float64, in another order: a few units of 2^-53 each. */
    private static final double TOLERANCE = 1e-12;

    private static final long SEED = 1234;

    private Parity() {}

    /** The results of a run, whole, by name. */
    record Outcome(Map<String, double[]> values) {
        /** Largest difference of one entry, relative to its largest magnitude (at least 1). */
        double difference(Outcome other, String name) {
            double[] mine = values.get(name);
            double[] theirs = other.values.get(name);
            assertThat(mine).as(name).hasSameSizeAs(theirs);
            double scale = 1;
            double largest = 0;
            for (int i = 0; i < mine.length; i++) {
                scale = Math.max(scale, Math.abs(theirs[i]));
                largest = Math.max(largest, Math.abs(mine[i] - theirs[i]));
            }
            return largest / scale;
        }
    }

    /** A model on one rank, on no mesh. */
    static Outcome one(Supplier<? extends Layer> model, Shape input) {
        return run(model.get(), CpuBackend.get(), input, x -> x);
    }

    /** A model that {@code split} has put on this rank's mesh; plain inputs are given to it. */
    static Outcome split(Layer model, World world, Shape input) {
        return run(model, world.backend(), input, x -> x);
    }

    /** As {@link #split(Layer, World, Shape)}, with what is done to the input first. */
    static Outcome split(Layer model, World world, Shape input, Function<Tensor, Tensor> prepare) {
        return run(model, world.backend(), input, prepare);
    }

    /** Asserts that the model under the plan gives on every one of {@code ranks} what it gives on one. */
    static void check(
            int ranks, Supplier<? extends Layer> model, Map<String, ? extends ParallelStyle> plan, Shape input) {
        Outcome expected = one(model, input);
        List<Outcome> outcomes = ThreadRanks.call(ranks, world -> {
            DeviceMesh mesh = DeviceMesh.of(world, "tp");
            return split(Parallelize.apply(model.get(), mesh, plan), world, input);
        });
        outcomes.forEach(outcome -> assertSame(outcome, expected));
    }

    /** Asserts that every value is the same up to rounding. */
    static void assertSame(Outcome actual, Outcome expected) {
        assertThat(actual.values.keySet()).isEqualTo(expected.values.keySet());
        for (String name : expected.values.keySet()) {
            assertThat(actual.difference(expected, name)).as(name).isLessThan(TOLERANCE);
        }
    }

    private static Outcome run(Layer model, Backend backend, Shape input, Function<Tensor, Tensor> prepare) {
        model.materialize(backend, DType.FLOAT64, SEED);
        Tensor x = Tensors.normal(backend, DType.FLOAT64, input, 0, 1, SEED, 1).requiresGrad(true);
        Tensor y = model.apply(prepare.apply(x));
        Tensor g = Tensors.normal(backend, DType.FLOAT64, y.shape(), 0, 1, SEED, 2);
        y.mul(g).sum().backward();
        Map<String, double[]> values = new LinkedHashMap<>();
        values.put("output", whole(y));
        Tensor dx = x.grad();
        if (dx != null) {
            values.put("input", whole(dx));
        }
        Gradients.of(model).forEach((name, grad) -> values.put(name, whole(grad)));
        return new Outcome(values);
    }

    static double[] whole(Tensor tensor) {
        return tensor.detach() instanceof DTensor d ? d.fullTensor().toDoubles() : tensor.toDoubles();
    }
}
