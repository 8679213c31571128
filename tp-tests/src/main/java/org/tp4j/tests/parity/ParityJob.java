package org.tp4j.tests.parity;

import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import org.tp4j.comm.World;
import org.tp4j.mesh.DeviceMesh;
import org.tp4j.parallel.Parallelize;
import org.tp4j.tensor.DType;
import org.tp4j.tests.run.Differences;
import org.tp4j.tests.run.Job;
import org.tp4j.tests.run.Outcome;

/**
 * A configuration trained by one rank alone and by all ranks together: every rank does both and compares.
 *
 * @param configuration what
 * @param dtype in which type
 */
record ParityJob(Configuration configuration, DType dtype) implements Job {
    /**
     * A column of the table: what is compared, and how far apart it may be. Sums over T ranks are the one-rank sums in another
     * order, which at these sizes costs a few units in the last place (2e-16 in float64, 1e-7 in float32). Parameters get more
     * room in float32: AdamW divides each gradient by its own size, so that where a gradient is small beside the largest of its
     * tensor its relative error is greater, and so is that of the step.
     */
    enum Quantity {
        OUTPUT("output", 1e-12, 5e-6),
        GRADIENTS("gradients", 1e-12, 5e-6),
        NORM("grad norm", 1e-12, 5e-6),
        PARAMETERS("parameters", 1e-12, 5e-5);

        private final String title;
        private final double bound64;
        private final double bound32;

        Quantity(String title, double bound64, double bound32) {
            this.title = title;
            this.bound64 = bound64;
            this.bound32 = bound32;
        }

        String title() {
            return title;
        }

        /** The bound for a type. */
        double bound(DType dtype) {
            return dtype == DType.FLOAT64 ? bound64 : bound32;
        }
    }

    @Override
    public String name() {
        return configuration.name() + ", " + dtype;
    }

    @Override
    public Outcome run(World world) {
        TrainingRun alone =
                TrainingRun.of(configuration.task(), configuration.model().get(), world.backend(), dtype);
        TrainingRun together = TrainingRun.of(
                configuration.task(),
                Parallelize.apply(configuration.model().get(), DeviceMesh.of(world, "tp"), configuration.plan()),
                world.backend(),
                dtype);
        Map<Quantity, Differences> found = new LinkedHashMap<>();
        found.put(Quantity.OUTPUT, compare(Map.of("output", together.output()), Map.of("output", alone.output())));
        found.put(Quantity.GRADIENTS, compare(together.gradients(), alone.gradients()));
        double[] norm = {together.norm()};
        found.put(Quantity.NORM, compare(Map.of("norm", norm), Map.of("norm", new double[] {alone.norm()})));
        found.put(Quantity.PARAMETERS, compare(together.parameters(), alone.parameters()));
        // Before the first step they must be the same bit for bit.
        return judge(found, compare(together.initial(), alone.initial()).worst());
    }

    private static Differences compare(Map<String, double[]> actual, Map<String, double[]> expected) {
        if (!actual.keySet().equals(expected.keySet())) {
            throw new IllegalStateException(
                    "there are " + actual.keySet() + " where one rank alone has " + expected.keySet());
        }
        Differences found = new Differences();
        expected.forEach((name, values) -> found.compare(name, Objects.requireNonNull(actual.get(name)), values));
        return found;
    }

    private Outcome judge(Map<Quantity, Differences> found, double initial) {
        StringBuilder columns = new StringBuilder();
        StringBuilder wrong = new StringBuilder();
        double worst = 0;
        for (Map.Entry<Quantity, Differences> entry : found.entrySet()) {
            double error = entry.getValue().worst();
            double bound = entry.getKey().bound(dtype);
            worst = Math.max(worst, error);
            columns.append(
                    String.format(Locale.ROOT, "  %10s", error == 0 ? "0" : String.format(Locale.ROOT, "%.1e", error)));
            if (error > bound) {
                wrong.append(String.format(
                        Locale.ROOT,
                        "; %s: %s differs by %.1e, at most %.0e may",
                        entry.getKey().title(),
                        entry.getValue().where(),
                        error,
                        bound));
            }
        }
        if (initial > 0) {
            wrong.append("; initial parameters are not the same");
        }
        return wrong.isEmpty()
                ? Outcome.pass(worst, columns.toString())
                : Outcome.fail(
                        worst, columns.append("  ").append(wrong.substring(2)).toString());
    }
}
