package org.tp4j.tests.comm;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.tp4j.comm.CommunicationException;
import org.tp4j.comm.ProcessGroup;
import org.tp4j.comm.ReduceOp;
import org.tp4j.comm.Work;
import org.tp4j.comm.World;
import org.tp4j.tensor.Backend;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.NdArray;

/** Several calls under way, several groups, and when a buffer may be used again. */
final class GroupChecks {
    private GroupChecks() {}

    static List<Check> all() {
        return List.of(
                new Check("many calls outstanding, awaited in any order", 1, GroupChecks::outstanding),
                new Check("buffers may be used again as soon as a call is awaited", 1, GroupChecks::reuse),
                new Check("isDone turns true by being asked", 1, GroupChecks::polling),
                new Check("a pending array is awaited by the next call", 1, GroupChecks::chained),
                new Check("barrier", 1, GroupChecks::barrier),
                new Check("split by color and key", 1, GroupChecks::split),
                new Check("partition", 1, GroupChecks::partition),
                new Check("groups of groups", 4, GroupChecks::nested),
                new Check("calls on several groups interleave", 2, GroupChecks::interleaved),
                new Check("roots are ranks of the group", 4, GroupChecks::roots),
                new Check("roots outside of the group are refused", 2, GroupChecks::strangers),
                new Check("arguments that do not fit are refused", 1, GroupChecks::misfits),
                new Check("a closed group is refused", 1, GroupChecks::closed));
    }

    private static NdArray scalar(World world, double value) {
        return Values.array(world.backend(), DType.FLOAT32, value);
    }

    private static double sum(ProcessGroup group, World world, double value) {
        NdArray array = scalar(world, value);
        group.allReduce(array, array, ReduceOp.SUM).await();
        return Values.read(array)[0];
    }

    private static void outstanding(World world) {
        ProcessGroup group = world.group();
        Backend backend = world.backend();
        int size = group.size();
        Random random = new Random(5 + group.rank()); // another order on every rank
        for (int round = 0; round < 10; round++) {
            List<Work> works = new ArrayList<>();
            List<Runnable> checks = new ArrayList<>();
            for (int i = 0; i < 12; i++) {
                int n = new int[] {1, 300, 40_000}[i % 3];
                double[] mine = Values.of(DType.FLOAT32, group.rank(), i, n);
                NdArray in = Values.array(backend, DType.FLOAT32, mine);
                int call = i;
                if (i % 2 == 0) {
                    works.add(group.allReduce(in, in, ReduceOp.SUM));
                    double[] expected = new double[n];
                    Arrays.setAll(expected, j -> Values.joined(DType.FLOAT32, ReduceOp.SUM, size, call + j));
                    checks.add(() -> Values.expect("call " + call, in, expected));
                } else {
                    long[] counts = new long[size];
                    Arrays.fill(counts, n);
                    NdArray out = Values.blank(backend, DType.FLOAT32, (long) n * size);
                    works.add(group.allGather(in, out, counts));
                    double[] expected = IntStream.range(0, size)
                            .mapToObj(r -> Values.of(DType.FLOAT32, r, call, n))
                            .flatMapToDouble(Arrays::stream)
                            .toArray();
                    checks.add(() -> Values.expect("call " + call, out, expected));
                }
            }
            List<Integer> order =
                    new ArrayList<>(IntStream.range(0, works.size()).boxed().toList());
            Collections.shuffle(order, random);
            for (int i : order) {
                works.get(i).await();
                checks.get(i).run();
            }
            works.forEach(Work::await); // again: does nothing
        }
    }

    private static void reuse(World world) throws InterruptedException {
        ProcessGroup group = world.group();
        int n = 70_000;
        NdArray in = Values.blank(world.backend(), DType.FLOAT32, n);
        NdArray out = Values.blank(world.backend(), DType.FLOAT32, n);
        double[] values = new double[n];
        for (int round = 0; round < 60; round++) {
            int factor = round + 1;
            Arrays.fill(values, factor * (group.rank() + 1.0));
            Values.write(in, values);
            Work work = group.allReduce(in, out, ReduceOp.SUM);
            if (round % group.size() == group.rank() && round % 7 == 0) {
                Thread.sleep(2); // others are done long before this rank is
            }
            work.await();
            Arrays.fill(values, -1);
            Values.write(in, values); // whoever still reads it gets wrong sums
            Arrays.fill(values, factor * group.size() * (group.size() + 1) / 2.0);
            Values.expect("round " + round, out, values);
        }
    }

    private static void polling(World world) {
        ProcessGroup group = world.group();
        NdArray array =
                Values.array(world.backend(), DType.FLOAT32, Values.of(DType.FLOAT32, group.rank(), 0, 100_000));
        Work work = group.allReduce(array, array, ReduceOp.SUM);
        long deadline = System.nanoTime() + 20_000_000_000L;
        while (!work.isDone()) {
            if (System.nanoTime() > deadline) {
                throw new AssertionError("not done after 20 s of asking");
            }
            Thread.onSpinWait();
        }
        work.await();
        Values.same("done", work.isDone(), true);
    }

    private static void chained(World world) {
        ProcessGroup group = world.group();
        NdArray sum = Values.blank(world.backend(), DType.FLOAT32, 1000);
        NdArray in = Values.array(world.backend(), DType.FLOAT32, Values.of(DType.FLOAT32, group.rank(), 0, 1000));
        sum.setPending(group.allReduce(in, sum, ReduceOp.SUM));
        NdArray largest = Values.blank(world.backend(), DType.FLOAT32, 1000);
        group.allReduce(sum, largest, ReduceOp.MAX).await();
        double[] expected = new double[1000];
        Arrays.setAll(expected, i -> Values.joined(DType.FLOAT32, ReduceOp.SUM, group.size(), i));
        Values.expect("largest", largest, expected);
    }

    private static void barrier(World world) {
        ProcessGroup group = world.group();
        for (int late = 0; late < group.size(); late++) {
            if (group.rank() == late) {
                LockSupport.parkNanos(20_000_000);
            }
            // One clock for all processes of a machine (CLOCK_MONOTONIC).
            double came = System.nanoTime();
            group.barrier();
            double left = System.nanoTime();
            double last = reduced(world, came, ReduceOp.MAX);
            double first = reduced(world, left, ReduceOp.MIN);
            Values.same("nobody leaves before rank " + late + " has come", first >= last, true);
        }
    }

    private static double reduced(World world, double value, ReduceOp op) {
        NdArray array = Values.array(world.backend(), DType.FLOAT64, value);
        world.group().allReduce(array, array, op).await();
        return Values.read(array)[0];
    }

    private static void split(World world) {
        ProcessGroup all = world.group();
        int size = all.size();
        // Backwards by key; the two colors are of different size when the world's is odd.
        ProcessGroup half = all.split("half", all.rank() % 2, -all.rank());
        List<Integer> expected = new ArrayList<>();
        for (int r = size - 1; r >= 0; r--) {
            if (r % 2 == all.rank() % 2) {
                expected.add(r);
            }
        }
        Values.same("name", half.name(), "half");
        Values.same("members", half.worldRanks(), expected);
        Values.same("rank", half.rank(), expected.indexOf(all.rank()));
        Values.same("size", half.size(), expected.size());
        double sum = expected.stream().mapToDouble(r -> r + 1).sum();
        Values.same("sum in the half", sum(half, world, all.rank() + 1), sum);
        ProcessGroup alone = all.split("alone", all.rank(), 0);
        Values.same("sum alone", sum(alone, world, 5), 5.0);
        ProcessGroup same = all.split("same", 0, 0); // equal keys stay in rank order
        Values.same("same order", same.worldRanks(), all.worldRanks());
        half.close();
        Values.same("others live on", sum(same, world, 1), (double) size);
        alone.close();
        same.close();
        same.close();
    }

    private static void partition(World world) {
        ProcessGroup all = world.group();
        List<Integer> backwards = new ArrayList<>(all.worldRanks());
        Collections.reverse(backwards);
        ProcessGroup whole = all.partition("backwards", List.of(backwards));
        Values.same("members", whole.worldRanks(), backwards);
        Values.same("rank", whole.rank(), all.size() - 1 - all.rank());
        whole.close();
    }

    private static void nested(World world) {
        ProcessGroup all = world.group();
        if (all.size() != 4) {
            return;
        }
        ProcessGroup backwards = all.split("backwards", 0, -all.rank());
        ProcessGroup pairs = backwards.split("pairs", backwards.rank() / 2, 0);
        Values.same("members", pairs.worldRanks(), all.rank() > 1 ? List.of(3, 2) : List.of(1, 0));
        Values.same("sum", sum(pairs, world, all.rank()), all.rank() > 1 ? 5.0 : 1.0);
        pairs.close();
        backwards.close();
    }

    private static void interleaved(World world) {
        ProcessGroup all = world.group();
        ProcessGroup odd = all.split("odd", all.rank() % 2, 0);
        ProcessGroup low = all.split("low", all.rank() / 2, 0);
        Random random = new Random(all.rank());
        for (int round = 0; round < 30; round++) {
            List<ProcessGroup> groups = List.of(all, odd, low, odd, all);
            List<NdArray> arrays = new ArrayList<>();
            List<Work> works = new ArrayList<>();
            for (int i = 0; i < groups.size(); i++) {
                arrays.add(scalar(world, 100.0 * i + all.rank() + round));
                works.add(groups.get(i).allReduce(arrays.get(i), arrays.get(i), ReduceOp.SUM));
            }
            List<Integer> order = new ArrayList<>(List.of(0, 1, 2, 3, 4));
            Collections.shuffle(order, random);
            for (int i : order) {
                works.get(i).await();
                double expected = 0;
                for (int member : groups.get(i).worldRanks()) {
                    expected += 100.0 * i + member + round;
                }
                Values.expect("group " + i, arrays.get(i), expected);
            }
        }
        odd.close();
        low.close();
    }

    /** A root is counted within the group, whatever the world ranks of its members. */
    private static void roots(World world) {
        ProcessGroup all = world.group();
        if (all.size() != 4) {
            return;
        }
        ProcessGroup tp = all.split("tp", all.rank() / 2, all.rank());
        ProcessGroup dp = all.split("dp", all.rank() % 2, all.rank());
        double[][] expected = {{10, 10, 30, 30}, {20, 20, 40, 40}, {10, 20, 10, 20}, {30, 40, 30, 40}};
        for (int i = 0; i < 4; i++) {
            NdArray array = scalar(world, 10 * (all.rank() + 1));
            (i < 2 ? tp : dp).broadcast(array, i % 2).await();
            Values.expect("broadcast " + i, array, expected[i][all.rank()]);
        }
        // A scatter is an all-to-all in which the root alone sends.
        boolean root = tp.rank() == 0;
        NdArray in = root
                ? Values.array(world.backend(), DType.FLOAT32, 100 + all.rank(), 200 + all.rank())
                : Values.blank(world.backend(), DType.FLOAT32, 0);
        NdArray out = Values.blank(world.backend(), DType.FLOAT32, 1);
        tp.allToAll(in, root ? new long[] {1, 1} : new long[2], out, new long[] {1, 0})
                .await();
        Values.expect("scatter", out, new double[] {100, 200, 102, 202}[all.rank()]);
        // What a broadcast's gradient is: the sum at the root of y's gradient on every rank.
        NdArray gradient = scalar(world, all.rank() + 1);
        tp.reduce(gradient, gradient, ReduceOp.SUM, 0).await();
        Values.expect("gradient", gradient, new double[] {3, 2, 7, 4}[all.rank()]);
        tp.close();
        dp.close();
    }

    private static void strangers(World world) {
        ProcessGroup all = world.group();
        NdArray array = scalar(world, 1);
        for (int root : new int[] {-1, all.size()}) {
            refuses("broadcast", () -> all.broadcast(array, root).await(), "ranks 0 to " + (all.size() - 1));
            refuses("reduce", () -> all.reduce(array, array, ReduceOp.SUM, root).await(), "HINT");
            refuses("send", () -> all.send(array, root).await(), "HINT");
            refuses("receive", () -> all.receive(array, root).await(), "HINT");
        }
        refuses("send to itself", () -> all.send(array, all.rank()).await(), "its own peer");
        Values.same("the group works on", sum(all, world, 1), (double) all.size());
    }

    private static void misfits(World world) {
        ProcessGroup all = world.group();
        int size = all.size();
        NdArray two = Values.array(world.backend(), DType.FLOAT32, 1, 2);
        NdArray three = Values.array(world.backend(), DType.FLOAT32, 1, 2, 3);
        NdArray ints = Values.array(world.backend(), DType.INT32, 1, 2);
        long[] counts = new long[size];
        Arrays.fill(counts, 2);
        refuses(
                "size",
                () -> all.allReduce(two, three, ReduceOp.SUM).await(),
                "out holds 3 elements, the call needs 2");
        refuses("type", () -> all.allReduce(two, ints, ReduceOp.SUM).await(), "float32 and out of type int32");
        refuses("average", () -> all.allReduce(ints, ints, ReduceOp.AVG).await(), "floating-point types only");
        refuses("counts", () -> all.allGather(two, two, new long[size + 1]).await(), "entries for the " + size);
        refuses("own count", () -> all.allGather(three, two, counts).await(), "in holds 3 elements, the call needs 2");
        NdArray wide = Values.blank(world.backend(), DType.FLOAT32, 2L * size);
        refuses("aliasing", () -> all.allToAll(wide, counts, wide, counts).await(), "share memory");
        refuses(
                "overlap",
                () -> all.allReduce(
                                three.window(0, org.tp4j.tensor.Shape.of(2)),
                                three.window(1, org.tp4j.tensor.Shape.of(2)),
                                ReduceOp.SUM)
                        .await(),
                "overlap");
        Values.same("the group works on", sum(all, world, 1), (double) size);
    }

    private static void closed(World world) {
        ProcessGroup group = world.group().split("short-lived", 0, 0);
        group.close();
        NdArray array = scalar(world, 1);
        refuses("closed", () -> group.allReduce(array, array, ReduceOp.SUM).await(), "'short-lived'");
    }

    private static void refuses(String what, Runnable call, String fragment) {
        try {
            call.run();
        } catch (CommunicationException e) {
            if (!String.valueOf(e.getMessage()).contains(fragment)) {
                throw new AssertionError(what + ": the message lacks '" + fragment + "': " + e.getMessage(), e);
            }
            return;
        }
        throw new AssertionError(what + " was not refused");
    }
}
