package org.tp4j.tests.comm;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.IntToDoubleFunction;
import org.tp4j.comm.ProcessGroup;
import org.tp4j.comm.ReduceOp;
import org.tp4j.comm.World;
import org.tp4j.tensor.Backend;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Scope;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.internal.math.HalfFloats;

/**
 * What values that are not ordinary numbers do in every reduction:
 *
 * <ul>
 *   <li>A NaN on any rank gives NaN, in a maximum and a minimum too; of which bits is not said, but of the same on all ranks.
 *   <li>Infinities are summed, multiplied and compared as IEEE 754 says: infinity - infinity and 0 * infinity are NaN.
 *   <li>-0 is below +0 in a maximum and a minimum; sums and products follow IEEE 754.
 *   <li>A sum or product that the type cannot hold is infinite. An average may be either: some engines divide the terms, some
 *       the sum, which may be infinite by then.
 *   <li>Sums and products of integers wrap around.
 * </ul>
 */
@SuppressWarnings("try") // scopes are opened for what they own
final class SpecialValueChecks {
    private static final double NEGATIVE_NAN = Double.longBitsToDouble(0xfff8000000000000L);
    private static final double INFINITY = Double.POSITIVE_INFINITY;

    private SpecialValueChecks() {}

    static List<Check> all() {
        List<Check> checks = new ArrayList<>();
        for (DType dtype : DType.values()) {
            for (ReduceOp op : ReduceOp.values()) {
                String what = op.name().toLowerCase(Locale.ROOT) + " of " + dtype;
                if (dtype.isFloating()) {
                    checks.add(
                            new Check("special values in allReduce " + what, 1, world -> allReduce(world, dtype, op)));
                    checks.add(new Check("special values in reduce " + what, 1, world -> reduce(world, dtype, op)));
                    checks.add(new Check(
                            "special values in reduceScatter " + what, 1, world -> reduceScatter(world, dtype, op)));
                }
            }
        }
        checks.add(new Check("products and sums of integers wrap", 2, SpecialValueChecks::wraps));
        return checks;
    }

    /** One element a case, as each rank has it. */
    private static List<IntToDoubleFunction> cases(DType dtype, int size) {
        int last = size - 1;
        double most = largest(dtype);
        return List.of(
                rank -> rank == 0 ? Double.NaN : 1,
                rank -> rank == last ? Double.NaN : 1,
                rank -> rank == last ? NEGATIVE_NAN : -1,
                rank -> rank == 0 ? NEGATIVE_NAN : INFINITY,
                rank -> rank == last ? Double.NaN : -INFINITY,
                rank -> rank == 0 ? INFINITY : 1,
                rank -> rank == last ? -INFINITY : 1,
                rank -> rank == 0 ? INFINITY : rank == last ? -INFINITY : 2,
                rank -> rank == last ? INFINITY : 0,
                rank -> -0.0,
                rank -> rank == 0 ? -0.0 : 0.0,
                rank -> rank == last ? -0.0 : 0.0,
                rank -> most,
                rank -> -most,
                rank -> rank == 0 ? 3 : -2 - rank);
    }

    private static double largest(DType dtype) {
        return switch (dtype) {
            case FLOAT64 -> Double.MAX_VALUE;
            case FLOAT32 -> Float.MAX_VALUE;
            case BFLOAT16 -> HalfFloats.bfloat16ToFloat((short) 0x7f7f);
            default -> HalfFloats.float16ToFloat((short) 0x7bff);
        };
    }

    private static double[] mine(DType dtype, int rank, int size) {
        return cases(dtype, size).stream()
                .mapToDouble(each -> each.applyAsDouble(rank))
                .toArray();
    }

    /** In 32 bits for 16-bit types, in the type itself otherwise, and rounded to the type. */
    private static double[] expected(DType dtype, ReduceOp op, int size) {
        double[] results = new double[cases(dtype, size).size()];
        for (int i = 0; i < results.length; i++) {
            IntToDoubleFunction values = cases(dtype, size).get(i);
            double result = values.applyAsDouble(0);
            for (int rank = 1; rank < size; rank++) {
                double next = values.applyAsDouble(rank);
                result = switch (op) {
                    case SUM, AVG -> result + next;
                    case PRODUCT -> result * next;
                    case MAX -> Math.max(result, next);
                    case MIN -> Math.min(result, next);
                };
                result = dtype == DType.FLOAT64 ? result : (float) result;
            }
            results[i] = Values.round(dtype, op == ReduceOp.AVG ? result / size : result);
        }
        return results;
    }

    private static void allReduce(World world, DType dtype, ReduceOp op) {
        ProcessGroup group = world.group();
        try (Scope scope = Scope.open()) {
            NdArray in = Values.array(world.backend(), dtype, mine(dtype, group.rank(), group.size()));
            NdArray out = Values.blank(world.backend(), dtype, in.elements());
            group.allReduce(in, out, op).await();
            expect(dtype, op, group.size(), out, 0);
            Values.expect("in", in, mine(dtype, group.rank(), group.size()));
            group.allReduce(in, in, op).await();
            expect(dtype, op, group.size(), in, 0);
            expectSameBits(group, in);
        }
    }

    private static void reduce(World world, DType dtype, ReduceOp op) {
        ProcessGroup group = world.group();
        int root = group.size() - 1;
        try (Scope scope = Scope.open()) {
            double[] mine = mine(dtype, group.rank(), group.size());
            NdArray in = Values.array(world.backend(), dtype, mine);
            NdArray out = Values.blank(world.backend(), dtype, in.elements());
            double[] before = Values.read(out);
            group.reduce(in, out, op, root).await();
            if (group.rank() == root) {
                expect(dtype, op, group.size(), out, 0);
            } else {
                Values.expect("out", out, before);
            }
            Values.expect("in", in, mine);
        }
    }

    /** The ranks' pieces of the cases differ in size. */
    private static void reduceScatter(World world, DType dtype, ReduceOp op) {
        ProcessGroup group = world.group();
        int size = group.size();
        try (Scope scope = Scope.open()) {
            double[] mine = mine(dtype, group.rank(), size);
            long[] counts = new long[size];
            Arrays.fill(counts, 3);
            counts[size - 1] = mine.length - 3L * (size - 1);
            NdArray in = Values.array(world.backend(), dtype, mine);
            NdArray out = Values.blank(world.backend(), dtype, counts[group.rank()]);
            group.reduceScatter(in, out, counts, op).await();
            expect(dtype, op, size, out, 3 * group.rank());
            Values.expect("in", in, mine);
        }
    }

    /** @param first the case of the array's first element */
    private static void expect(DType dtype, ReduceOp op, int size, NdArray actual, int first) {
        double[] all = expected(dtype, op, size);
        double[] found = Values.read(actual);
        double[] wanted = Arrays.copyOfRange(all, first, first + found.length);
        for (int i = 0; i < found.length; i++) {
            boolean overflows = Math.abs(cases(dtype, size).get(first + i).applyAsDouble(0)) == largest(dtype);
            if (op == ReduceOp.AVG && overflows) {
                boolean divided = Math.abs(found[i]) >= largest(dtype) * (1 - 0x1p-7);
                Values.same("average of the largest numbers", divided, true);
                wanted[i] = found[i];
            }
        }
        Values.expect("out", actual, wanted);
    }

    private static void expectSameBits(ProcessGroup group, NdArray array) {
        Backend backend = array.backend();
        NdArray all = NdArray.allocate(backend, array.dtype(), Shape.of(group.size() * array.elements()));
        long[] counts = new long[group.size()];
        Arrays.fill(counts, array.elements());
        group.allGather(array, all, counts).await();
        for (int rank = 1; rank < group.size(); rank++) {
            Values.same(
                    "bits on rank " + rank + " and rank 0",
                    Values.bytes(all.window(rank * array.elements(), array.shape())),
                    Values.bytes(all.window(0, array.shape())));
        }
    }

    private static void wraps(World world) {
        ProcessGroup group = world.group();
        for (DType dtype : new DType[] {DType.INT32, DType.INT64}) {
            double high = dtype == DType.INT32 ? 0x1p30 : 0x1p62;
            double value = group.rank() < 2 ? high : 0;
            NdArray sum = Values.array(world.backend(), dtype, value);
            group.allReduce(sum, sum, ReduceOp.SUM).await();
            Values.expect("sum", sum, -2 * high);
            double factor = group.rank() == 0 ? high : group.rank() == 1 ? 6 : 1;
            NdArray product = Values.array(world.backend(), dtype, factor);
            group.allReduce(product, product, ReduceOp.PRODUCT).await();
            Values.expect("product", product, -2 * high);
        }
    }
}
