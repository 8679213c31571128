package org.tp4j.tests.comm;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import org.tp4j.comm.ProcessGroup;
import org.tp4j.comm.ReduceOp;
import org.tp4j.comm.World;
import org.tp4j.tensor.Backend;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Scope;
import org.tp4j.tensor.Shape;

/** Every reduction of every type, in all sizes, in place and not. */
@SuppressWarnings("try") // scopes are opened for what they own
final class ReductionChecks {
    /** Empty, one element, odd, more than a chunk or a small-message limit of any engine. */
    private static final long[] SIZES = {0, 1, 7, 1000, 33_001};

    private static final long[] FEW_SIZES = {0, 7, 33_001};

    private ReductionChecks() {}

    static List<Check> all() {
        List<Check> checks = new ArrayList<>();
        for (DType dtype : DType.values()) {
            for (ReduceOp op : ReduceOp.values()) {
                if (op == ReduceOp.AVG && !dtype.isFloating()) {
                    continue;
                }
                String what = op.name().toLowerCase(Locale.ROOT) + " of " + dtype;
                checks.add(new Check("allReduce " + what, 1, world -> allReduce(world, dtype, op)));
                checks.add(new Check("reduceScatter " + what, 1, world -> reduceScatter(world, dtype, op)));
                checks.add(new Check("reduce " + what, 1, world -> reduce(world, dtype, op)));
            }
        }
        checks.add(new Check("allReduce gives the same bits on every rank", 1, ReductionChecks::sameBits));
        checks.add(new Check("allReduce rounds 16-bit floats once", 3, ReductionChecks::roundsOnce));
        checks.add(new Check("allReduce of integers wraps", 2, ReductionChecks::wraps));
        checks.add(new Check("allReduce of a large buffer", 1, ReductionChecks::large));
        return checks;
    }

    private static void allReduce(World world, DType dtype, ReduceOp op) {
        ProcessGroup group = world.group();
        for (long n : SIZES) {
            try (Scope scope = Scope.open()) {
                double[] mine = Values.of(dtype, group.rank(), 0, n);
                double[] joined = joined(dtype, op, group.size(), 0, n);
                NdArray in = Values.array(world.backend(), dtype, mine);
                NdArray out = Values.blank(world.backend(), dtype, n);
                group.allReduce(in, out, op).await();
                Values.expect("out", out, joined);
                Values.expect("in", in, mine);
                group.allReduce(in, in, op).await();
                Values.expect("in place", in, joined);
            }
        }
    }

    private static void reduceScatter(World world, DType dtype, ReduceOp op) {
        ProcessGroup group = world.group();
        int size = group.size();
        for (long n : SIZES) {
            try (Scope scope = Scope.open()) {
                long[] counts = new long[size];
                Arrays.setAll(counts, r -> r % 3 == 1 ? 0 : n + r); // uneven, one of them empty
                long total = Arrays.stream(counts).sum();
                long first = Arrays.stream(counts, 0, group.rank()).sum();
                long own = counts[group.rank()];
                double[] joined = joined(dtype, op, size, first, own);
                NdArray in = Values.array(world.backend(), dtype, Values.of(dtype, group.rank(), 0, total));
                NdArray out = Values.blank(world.backend(), dtype, own);
                group.reduceScatter(in, out, counts, op).await();
                Values.expect("out", out, joined);
                NdArray piece = in.window(first, Shape.of(own));
                group.reduceScatter(in, piece, counts, op).await();
                Values.expect("in place", out, joined);
                Values.expect("in place", Values.array(world.backend(), dtype, Values.read(piece)), joined);
            }
        }
    }

    private static void reduce(World world, DType dtype, ReduceOp op) {
        ProcessGroup group = world.group();
        for (int root = 0; root < group.size(); root++) {
            for (long n : FEW_SIZES) {
                try (Scope scope = Scope.open()) {
                    double[] mine = Values.of(dtype, group.rank(), 0, n);
                    NdArray in = Values.array(world.backend(), dtype, mine);
                    NdArray out = Values.blank(world.backend(), dtype, n);
                    double[] before = Values.read(out);
                    group.reduce(in, out, op, root).await();
                    double[] joined = joined(dtype, op, group.size(), 0, n);
                    Values.expect("out", out, group.rank() == root ? joined : before);
                    group.reduce(in, in, op, root).await();
                    Values.expect("in place", in, group.rank() == root ? joined : mine);
                }
            }
        }
    }

    private static double[] joined(DType dtype, ReduceOp op, int size, long first, long n) {
        double[] values = new double[(int) n];
        Arrays.setAll(values, i -> Values.joined(dtype, op, size, first + i));
        return values;
    }

    private static void sameBits(World world) {
        ProcessGroup group = world.group();
        Backend backend = world.backend();
        for (int n : new int[] {5, 3001, 250_001}) {
            try (Scope scope = Scope.open()) {
                double[] values = new double[n];
                Random random = new Random(31L * n + group.rank());
                Arrays.setAll(values, i -> random.nextGaussian() * Math.exp(4 * random.nextGaussian()));
                NdArray sum = Values.array(backend, DType.FLOAT32, values);
                group.allReduce(sum, sum, ReduceOp.SUM).await();
                // As integers, so that every bit counts.
                NdArray bits = NdArray.allocate(backend, DType.INT32, Shape.of(n));
                backend.copyIn(Values.bytes(sum), bits);
                NdArray largest = NdArray.allocate(backend, DType.INT32, Shape.of(n));
                NdArray smallest = NdArray.allocate(backend, DType.INT32, Shape.of(n));
                group.allReduce(bits, largest, ReduceOp.MAX).await();
                group.allReduce(bits, smallest, ReduceOp.MIN).await();
                Values.same("smallest bits", Arrays.equals(Values.read(largest), Values.read(smallest)), true);
            }
        }
    }

    /** 256 + 1 + 1: exact in 32 bits, but 256 if each sum is rounded to bfloat16 on the way. */
    private static void roundsOnce(World world) {
        ProcessGroup group = world.group();
        double bfloat16 = 256 + 2 * ((group.size() - 1) / 2);
        double value = group.rank() == 0 ? 256 : group.rank() < 1 + 2 * ((group.size() - 1) / 2) ? 1 : 0;
        NdArray array = Values.array(world.backend(), DType.BFLOAT16, value);
        group.allReduce(array, array, ReduceOp.SUM).await();
        Values.expect("bfloat16", array, bfloat16);
        NdArray half = Values.array(world.backend(), DType.FLOAT16, group.rank() == 0 ? 2048 : value);
        group.allReduce(half, half, ReduceOp.SUM).await();
        Values.expect("float16", half, bfloat16 - 256 + 2048);
    }

    private static void wraps(World world) {
        ProcessGroup group = world.group();
        double value = group.rank() == 0 ? Integer.MAX_VALUE : group.rank() == 1 ? 1 : 0;
        NdArray array = Values.array(world.backend(), DType.INT32, value);
        group.allReduce(array, array, ReduceOp.SUM).await();
        Values.expect("int32", array, Integer.MIN_VALUE);
    }

    private static void large(World world) {
        ProcessGroup group = world.group();
        long n = 2_500_001;
        try (Scope scope = Scope.open()) {
            NdArray array = Values.array(world.backend(), DType.FLOAT32, Values.of(DType.FLOAT32, group.rank(), 0, n));
            group.allReduce(array, array, ReduceOp.SUM).await();
            Values.expect("sum", array, joined(DType.FLOAT32, ReduceOp.SUM, group.size(), 0, n));
        }
    }
}
