package org.tp4j.tests.comm;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.tp4j.comm.ProcessGroup;
import org.tp4j.comm.Work;
import org.tp4j.comm.World;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Scope;
import org.tp4j.tensor.Shape;

/** Calls that move values without joining them, in every type, with even, uneven and empty pieces. */
@SuppressWarnings("try") // scopes are opened for what they own
final class MovementChecks {
    private static final long[] SIZES = {0, 1, 5, 20_001};

    private MovementChecks() {}

    static List<Check> all() {
        List<Check> checks = new ArrayList<>();
        for (DType dtype : DType.values()) {
            checks.add(new Check("allGather of " + dtype, 1, world -> allGather(world, dtype)));
            checks.add(new Check("allToAll of " + dtype, 1, world -> allToAll(world, dtype)));
            checks.add(new Check("broadcast of " + dtype, 1, world -> broadcast(world, dtype)));
            checks.add(new Check("send and receive of " + dtype, 2, world -> ring(world, dtype)));
        }
        checks.add(new Check("messages arrive in order", 2, MovementChecks::messagesInOrder));
        checks.add(new Check("receives may be posted before sends on both sides", 2, MovementChecks::receiveFirst));
        return checks;
    }

    private static void allGather(World world, DType dtype) {
        ProcessGroup group = world.group();
        for (long n : SIZES) {
            for (int pattern = 0; pattern < 3; pattern++) {
                long[] counts = counts(group.size(), n, pattern);
                try (Scope scope = Scope.open()) {
                    long own = counts[group.rank()];
                    long first = Arrays.stream(counts, 0, group.rank()).sum();
                    double[] expected = gathered(dtype, counts);
                    NdArray in = Values.array(world.backend(), dtype, Values.of(dtype, group.rank(), 0, own));
                    NdArray out = Values.blank(world.backend(), dtype, expected.length);
                    group.allGather(in, out, counts).await();
                    Values.expect("out", out, expected);
                    NdArray inPlace = Values.blank(world.backend(), dtype, expected.length);
                    NdArray piece = inPlace.window(first, Shape.of(own));
                    Values.write(piece, Values.of(dtype, group.rank(), 0, own));
                    group.allGather(piece, inPlace, counts).await();
                    Values.expect("in place", inPlace, expected);
                }
            }
        }
    }

    /** Even; uneven with empty ones; all at the last rank. */
    private static long[] counts(int size, long n, int pattern) {
        long[] counts = new long[size];
        Arrays.setAll(counts, r -> switch (pattern) {
            case 0 -> n;
            case 1 -> r % 2 == 0 ? 0 : n + r;
            default -> r == size - 1 ? n : 0;
        });
        return counts;
    }

    private static double[] gathered(DType dtype, long[] counts) {
        double[] all = new double[(int) Arrays.stream(counts).sum()];
        int at = 0;
        for (int rank = 0; rank < counts.length; rank++) {
            for (int i = 0; i < counts[rank]; i++) {
                all[at++] = Values.of(dtype, rank, i);
            }
        }
        return all;
    }

    private static void allToAll(World world, DType dtype) {
        ProcessGroup group = world.group();
        int size = group.size();
        int me = group.rank();
        for (long n : SIZES) {
            try (Scope scope = Scope.open()) {
                long[] send = new long[size];
                long[] receive = new long[size];
                Arrays.setAll(send, to -> between(n, me, to));
                Arrays.setAll(receive, from -> between(n, from, me));
                NdArray in = Values.array(
                        world.backend(),
                        dtype,
                        Values.of(dtype, me, 0, Arrays.stream(send).sum()));
                NdArray out = Values.blank(
                        world.backend(), dtype, Arrays.stream(receive).sum());
                double[] expected = new double[(int) out.elements()];
                int at = 0;
                for (int from = 0; from < size; from++) {
                    long first = 0;
                    for (int to = 0; to < me; to++) {
                        first += between(n, from, to);
                    }
                    for (int i = 0; i < receive[from]; i++) {
                        expected[at++] = Values.of(dtype, from, first + i);
                    }
                }
                group.allToAll(in, send, out, receive).await();
                Values.expect("out", out, expected);
            }
        }
    }

    private static long between(long n, int from, int to) {
        return (from + 2 * to) % 3 == 0 ? 0 : n + from + 3L * to;
    }

    private static void broadcast(World world, DType dtype) {
        ProcessGroup group = world.group();
        for (int root = 0; root < group.size(); root++) {
            for (long n : SIZES) {
                try (Scope scope = Scope.open()) {
                    NdArray array = Values.array(world.backend(), dtype, Values.of(dtype, group.rank(), 0, n));
                    group.broadcast(array, root).await();
                    Values.expect("array", array, Values.of(dtype, root, 0, n));
                }
            }
        }
    }

    private static void ring(World world, DType dtype) {
        ProcessGroup group = world.group();
        int right = (group.rank() + 1) % group.size();
        int left = (group.rank() + group.size() - 1) % group.size();
        for (long n : SIZES) {
            try (Scope scope = Scope.open()) {
                NdArray out = Values.array(world.backend(), dtype, Values.of(dtype, group.rank(), 0, n));
                NdArray in = Values.blank(world.backend(), dtype, n);
                Work sending = group.send(out, right);
                group.receive(in, left).await();
                sending.await();
                Values.expect("in", in, Values.of(dtype, left, 0, n));
            }
        }
    }

    private static void messagesInOrder(World world) {
        ProcessGroup group = world.group();
        int n = 20;
        if (group.rank() == 0) {
            List<Work> works = new ArrayList<>();
            for (int i = 0; i < n; i++) {
                for (int peer = 1; peer < group.size(); peer++) {
                    works.add(group.send(Values.array(world.backend(), DType.INT32, i, peer), peer));
                }
            }
            works.forEach(Work::await);
        } else {
            List<NdArray> arrays = new ArrayList<>();
            List<Work> works = new ArrayList<>();
            for (int i = 0; i < n; i++) {
                arrays.add(Values.blank(world.backend(), DType.INT32, 2));
                works.add(group.receive(arrays.get(i), 0));
            }
            for (int i = n - 1; i >= 0; i--) {
                works.get(i).await();
                Values.expect("message " + i, arrays.get(i), i, group.rank());
            }
        }
    }

    private static void receiveFirst(World world) {
        ProcessGroup group = world.group();
        if (group.rank() > 1) {
            return;
        }
        int peer = 1 - group.rank();
        NdArray in = Values.blank(world.backend(), DType.FLOAT64, 1000);
        Work receiving = group.receive(in, peer);
        Work sending = group.send(
                Values.array(world.backend(), DType.FLOAT64, Values.of(DType.FLOAT64, group.rank(), 0, 1000)), peer);
        receiving.await();
        sending.await();
        Values.expect("in", in, Values.of(DType.FLOAT64, peer, 0, 1000));
    }
}
