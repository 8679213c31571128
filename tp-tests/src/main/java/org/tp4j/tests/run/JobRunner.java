package org.tp4j.tests.run;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiConsumer;
import org.tp4j.comm.CommunicationException;
import org.tp4j.comm.ReduceOp;
import org.tp4j.comm.World;
import org.tp4j.comm.launch.Launch;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Scope;
import org.tp4j.tensor.Shape;

/**
 * Runs jobs on ranks and settles one outcome for all of them: the worst. A job that throws on every rank has failed and the
 * next one runs; threads are started anew for each job, so that there even a job that throws on one rank alone harms no other.
 */
@SuppressWarnings("try") // a scope that only owns
public final class JobRunner {
    private final RankOptions options;

    /** @param options which ranks */
    public JobRunner(RankOptions options) {
        this.options = options;
    }

    /**
     * Runs jobs one after the other.
     *
     * @param ranks how many ranks
     * @param report takes each job's outcome, on one rank alone
     */
    public void run(int ranks, List<? extends Job> jobs, BiConsumer<Job, Outcome> report) {
        if (options.areProcesses()) {
            Launch.run(options.launch(ranks), world -> {
                for (Job job : jobs) {
                    Outcome outcome = settle(job, world);
                    if (world.rank() == 0) {
                        report.accept(job, outcome);
                    }
                }
            });
            return;
        }
        for (Job job : jobs) {
            report.accept(job, onThreads(job, ranks));
        }
    }

    /** Runs as threads; what a rank throws ends all of them, and the first to fail says why. */
    private Outcome onThreads(Job job, int ranks) {
        AtomicReference<Outcome> settled = new AtomicReference<>();
        try {
            Launch.run(options.launch(ranks), world -> {
                Outcome outcome = agree(run(job, world), world);
                if (world.rank() == 0) {
                    settled.set(outcome);
                }
            });
            return Objects.requireNonNull(settled.get());
        } catch (RuntimeException | StackOverflowError e) {
            return Outcome.fail(e);
        }
    }

    /** Runs as this process; what is thrown on all ranks alike is an outcome, and the next job can run. */
    private static Outcome settle(Job job, World world) throws Exception {
        Outcome mine;
        try {
            mine = run(job, world);
        } catch (CommunicationException | InterruptedException e) {
            throw e; // the others cannot be reached any more
        } catch (Exception | StackOverflowError e) {
            mine = Outcome.fail(e);
        }
        return agree(mine, world);
    }

    private static Outcome run(Job job, World world) throws Exception {
        try (Scope scope = Scope.open(job.name())) {
            return job.run(world);
        }
    }

    /** This rank's outcome, unless another rank has a worse one. */
    private static Outcome agree(Outcome mine, World world) {
        double failed = mine.status() == Outcome.Status.FAIL ? 1 : 0;
        double error = Double.isNaN(mine.error()) ? 0 : mine.error();
        double[] worst = largest(world, failed, error);
        if (worst[0] > failed) {
            return Outcome.fail(worst[1], "on another rank than 0, which has max error " + mine.errorText());
        }
        return Double.isNaN(mine.error()) ? mine : new Outcome(mine.status(), worst[1], mine.detail());
    }

    private static double[] largest(World world, double... numbers) {
        ByteBuffer bytes = ByteBuffer.allocate(8 * numbers.length).order(ByteOrder.LITTLE_ENDIAN);
        for (double number : numbers) {
            bytes.putDouble(number);
        }
        NdArray array = NdArray.allocate(world.backend(), DType.FLOAT64, Shape.of(numbers.length));
        world.backend().copyIn(bytes.flip(), array);
        world.group().allReduce(array, array, ReduceOp.MAX).await();
        world.backend().copyOut(array, bytes.clear());
        double[] result = new double[numbers.length];
        bytes.flip().asDoubleBuffer().get(result);
        return result;
    }
}
