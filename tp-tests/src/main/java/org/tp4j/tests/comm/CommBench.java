package org.tp4j.tests.comm;

import java.util.Arrays;
import java.util.Locale;
import org.tp4j.comm.ProcessGroup;
import org.tp4j.comm.ReduceOp;
import org.tp4j.comm.World;
import org.tp4j.comm.launch.Launch;
import org.tp4j.comm.launch.LaunchOptions;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Shape;

/**
 * Times all-reduces in place: a line of JSON a size with the median and the best of several rounds. Arguments: number of
 * ranks (threads; 0 under mpirun), then element counts.
 */
public final class CommBench {
    private static final int ROUNDS = 9;
    private static final double ROUND_SECONDS = 0.1;

    private CommBench() {}

    /** Runs it. */
    public static void main(String[] args) {
        int ranks = args.length == 0 ? 2 : Integer.parseInt(args[0]);
        long[] sizes = args.length < 2
                ? new long[] {1, 256, 16 * 1024, 512 * 1024}
                : Arrays.stream(args, 1, args.length).mapToLong(Long::parseLong).toArray();
        Launch.run(LaunchOptions.defaults().withRanks(ranks), world -> {
            for (long size : sizes) {
                measure(world, size);
            }
        });
    }

    private static void measure(World world, long elements) {
        ProcessGroup group = world.group();
        NdArray array = NdArray.full(world.backend(), DType.FLOAT32, Shape.of(elements), 0);
        time(group, array, (int) Math.max(20, Math.min(20_000, 50_000_000 / elements))); // compiled by then
        int calls = (int) Math.max(3, ROUND_SECONDS / agreed(world, time(group, array, 10)));
        double[] seconds = new double[ROUNDS];
        for (int round = 0; round < ROUNDS; round++) {
            seconds[round] = time(group, array, calls);
        }
        Arrays.sort(seconds);
        if (world.rank() == 0) {
            double median = seconds[ROUNDS / 2];
            System.out.printf(
                    Locale.ROOT,
                    "{\"bench\":\"all_reduce\",\"launcher\":\"%s\",\"ranks\":%d,\"elements\":%d,\"median_us\":%.2f,"
                            + "\"best_us\":%.2f,\"gigabytes_per_second\":%.2f}%n",
                    world.launcher(),
                    world.size(),
                    elements,
                    median * 1e6,
                    seconds[0] * 1e6,
                    elements * 4e-9 / median);
        }
    }

    /** The slowest rank's time, so that all make the same number of calls. */
    private static double agreed(World world, double seconds) {
        NdArray slowest = Values.array(world.backend(), DType.FLOAT64, seconds);
        world.group().allReduce(slowest, slowest, ReduceOp.MAX).await();
        return Values.read(slowest)[0];
    }

    private static double time(ProcessGroup group, NdArray array, int calls) {
        group.barrier();
        long start = System.nanoTime();
        for (int i = 0; i < calls; i++) {
            group.allReduce(array, array, ReduceOp.SUM).await();
        }
        return (System.nanoTime() - start) * 1e-9 / calls;
    }
}
