package org.tp4j.cuda.internal.kernels;

import static org.tp4j.cuda.internal.arguments.RowArguments.REDUCE_COLUMNS;
import static org.tp4j.cuda.internal.arguments.RowArguments.REDUCE_ROWS;

import org.tp4j.cuda.internal.compile.KernelConstants;
import org.tp4j.cuda.internal.compile.ResultForm;
import org.tp4j.cuda.internal.driver.CudaDevice;
import org.tp4j.cuda.internal.launch.Arguments;
import org.tp4j.cuda.internal.launch.ColumnGrid;
import org.tp4j.cuda.internal.launch.KernelFamily;
import org.tp4j.cuda.internal.launch.Kernels;
import org.tp4j.cuda.internal.launch.RowGrid;
import org.tp4j.cuda.internal.memory.CudaStorage;
import org.tp4j.cuda.internal.memory.MemoryPool;
import org.tp4j.cuda.internal.memory.Workspace;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.ReductionKernels.Kind;
import org.tp4j.tensor.Shape;

/**
 * Reductions over any dimensions, in passes that each reduce adjacent ones. Dimensions that are kept or reduced together
 * are merged; the array is then [outer, m, inner], reduced over m. If inner is 1, a group of threads takes a row;
 * otherwise adjacent threads take adjacent columns. Where that gives too few threads, m is split among blocks and
 * their results are combined. Dimensions that do not merge into one m cost one more pass each, over what the first
 * pass has left.
 *
 * <p>Nothing depends on the order in which blocks run, so results are deterministic.
 */
public final class ReductionPasses {
    private static final int AHEAD = KernelConstants.AHEAD;
    private static final int WIDEST_PACK = 8;

    private static final int ROW_THREADS = 256;
    private static final int LONGEST_PART = 1 << 30;

    private final MemoryPool pool;
    private final KernelFamily rows;
    private final KernelFamily wideColumns;
    private final KernelFamily columns;
    private final KernelFamily combine;
    private final CudaDevice device;

    public ReductionPasses(Kernels kernels, MemoryPool pool) {
        this.pool = pool;
        rows = new KernelFamily(kernels, "reduce", "reduceRows");
        wideColumns = new KernelFamily(kernels, "reduce", "reduceWideColumns");
        columns = new KernelFamily(kernels, "reduce", "reduceColumns");
        combine = new KernelFamily(kernels, "reduce", "combineColumns");
        device = kernels.device();
    }

    /**
     * What a pass reads and where it writes its results.
     *
     * @param dtype type of the elements of the reduction
     * @param kind the kind
     * @param from address of elements, or of states
     * @param states whether {@code from} holds states
     * @param to address of the results
     * @param as the form in which results are written
     */
    private record Pass(DType dtype, Kind kind, long from, boolean states, long to, ResultForm as) {
        Pass(Pass like, long from, boolean states, long to, ResultForm as) {
            this(like.dtype, like.kind, from, states, to, as);
        }
    }

    CudaDevice device() {
        return device;
    }

    /** Bytes of a state: a value and its error, in 32 bits for floats of up to 32, else in 64. */
    static long stateBytes(DType dtype) {
        return 2L * dtype.accumulator().bytes();
    }

    /** out = the sums over m of states [m, n], rounded once; n is the size of out, whose type is {@code dtype}. */
    void sumStates(DType dtype, long states, long m, NdArray out) {
        Pass pass = new Pass(dtype, Kind.SUM, states, true, CudaStorage.addressOf(out), ResultForm.AS_SCALAR);
        columns(pass, 1, m, out.elements());
    }

    /** See {@link org.tp4j.tensor.ReductionKernels#reduce}. */
    void reduce(Kind kind, NdArray x, boolean[] reduced, NdArray out) {
        if (out.elements() == 0) {
            return;
        }
        Pass whole = new Pass(x.dtype(), kind, CudaStorage.addressOf(x), false, CudaStorage.addressOf(out), as(x, out));
        if (x.elements() == 0) {
            rows(whole, out.elements(), 0);
            return;
        }
        long[] sizes = new long[2 * x.shape().dims() + 1];
        int last = merge(x.shape(), reduced, sizes);
        if (last == 0) {
            rows(whole, x.elements(), 1);
        } else {
            reduce(whole, sizes, last);
        }
    }

    private static ResultForm as(NdArray x, NdArray out) {
        if (out.dtype() == x.dtype()) {
            return ResultForm.AS_SCALAR;
        }
        return out.dtype() == DType.FLOAT64 ? ResultForm.AS_DOUBLE : ResultForm.AS_FLOAT;
    }

    /** Merged sizes, alternately kept and reduced, beginning and ending with kept; returns the index of the last. */
    private static int merge(Shape shape, boolean[] reduced, long[] sizes) {
        int last = 0;
        sizes[0] = 1;
        for (int d = 0; d < reduced.length; d++) {
            long size = shape.size(d);
            if (size == 1) {
                continue;
            }
            if (reduced[d] != (last % 2 == 1)) {
                sizes[++last] = 1;
            }
            sizes[last] *= size;
        }
        if (last % 2 == 1) {
            sizes[++last] = 1;
        }
        return last;
    }

    /** Reduces the dimensions one after another: rows first, if any, then the largest. */
    private void reduce(Pass whole, long[] sizes, int last) {
        int at = 1;
        for (int i = 3; i < last; i += 2) {
            at = sizes[i] > sizes[at] ? i : at;
        }
        if (!whole.states && sizes[last] == 1) {
            at = last - 1;
        }
        long outer = product(sizes, 0, at);
        long m = sizes[at];
        long inner = product(sizes, at + 1, last + 1);
        if (last == 2) {
            reduce(whole, outer, m, inner);
            return;
        }
        try (Workspace states = new Workspace(pool, outer * inner * stateBytes(whole.dtype))) {
            reduce(new Pass(whole, whole.from, whole.states, states.address(), ResultForm.AS_STATE), outer, m, inner);
            sizes[at - 1] *= sizes[at + 1];
            System.arraycopy(sizes, at + 2, sizes, at, last - at - 1);
            reduce(new Pass(whole, states.address(), true, whole.to, whole.as), sizes, last - 2);
        }
    }

    private static long product(long[] sizes, int from, int to) {
        long product = 1;
        for (int i = from; i < to; i++) {
            product *= sizes[i];
        }
        return product;
    }

    private void reduce(Pass pass, long outer, long m, long inner) {
        if (inner == 1 && !pass.states) {
            rows(pass, outer, m);
        } else {
            columns(pass, outer, m, inner);
        }
    }

    private void rows(Pass pass, long count, long n) {
        int pack = 16 / pass.dtype.bytes();
        long packs = RowGrid.packs(n, pass.dtype, pass.from);
        int group = RowGrid.powerOfTwo(Math.min((packs + AHEAD - 1) / AHEAD, ROW_THREADS));
        long wantedGroups = ColumnGrid.wantedBlocks(device) * ROW_THREADS / group;
        long parts = Math.max(1, Math.min(wantedGroups / count, packs / (2L * AHEAD * group)));
        parts = Math.max(parts, (n + LONGEST_PART - 1) / LONGEST_PART);
        long part = roundUp((n + parts - 1) / parts, pack);
        parts = Math.max(1, (n + part - 1) / Math.max(part, 1));
        if (parts == 1) {
            launchRows(pass, count, n, (int) part, 1, group);
            return;
        }
        try (Workspace states = new Workspace(pool, parts * count * stateBytes(pass.dtype))) {
            Pass first = new Pass(pass, pass.from, false, states.address(), ResultForm.AS_STATE);
            launchRows(first, count, n, (int) part, (int) parts, group);
            columns(new Pass(pass, states.address(), true, pass.to, pass.as), 1, parts, count);
        }
    }

    private static long roundUp(long n, int multiple) {
        return (n + multiple - 1) / multiple * multiple;
    }

    private void launchRows(Pass pass, long count, long n, int part, int parts, int group) {
        int threads = RowGrid.threads(group);
        long groupsABlock = threads / group;
        rows.of(pass.dtype)
                .launch(
                        (count * parts + groupsABlock - 1) / groupsABlock,
                        threads,
                        Arguments.of(REDUCE_ROWS)
                                .set(REDUCE_ROWS.x, pass.from)
                                .set(REDUCE_ROWS.out, pass.to)
                                .set(REDUCE_ROWS.rows, count)
                                .set(REDUCE_ROWS.n, n)
                                .set(REDUCE_ROWS.part, part)
                                .set(REDUCE_ROWS.parts, parts)
                                .set(REDUCE_ROWS.kind, pass.kind)
                                .set(REDUCE_ROWS.as, pass.as)
                                .set(REDUCE_ROWS.group, group));
    }

    private void columns(Pass pass, long outer, long m, long inner) {
        int pack = Math.min(WIDEST_PACK, 16 / pass.dtype.bytes());
        boolean wide = !pass.states && inner % pack == 0 && pass.from % ((long) pack * pass.dtype.bytes()) == 0;
        long across = outer * inner / (wide ? pack : 1);
        ColumnGrid grid = ColumnGrid.of(device, across, m);
        KernelFamily family = pass.states ? combine : wide ? wideColumns : columns;
        if (grid.parts() == 1) {
            launchColumns(family, pass, outer, m, inner, grid);
            return;
        }
        try (Workspace states = new Workspace(pool, grid.parts() * outer * inner * stateBytes(pass.dtype))) {
            Pass first = new Pass(pass, pass.from, pass.states, states.address(), ResultForm.AS_STATE);
            launchColumns(family, first, outer, m, inner, grid);
            columns(new Pass(pass, states.address(), true, pass.to, pass.as), 1, grid.parts(), outer * inner);
        }
    }

    private static void launchColumns(KernelFamily family, Pass pass, long outer, long m, long inner, ColumnGrid grid) {
        family.of(pass.dtype)
                .launch(
                        grid.blocks(),
                        grid.parts(),
                        ColumnGrid.THREADS,
                        0,
                        Arguments.of(REDUCE_COLUMNS)
                                .set(REDUCE_COLUMNS.x, pass.from)
                                .set(REDUCE_COLUMNS.out, pass.to)
                                .set(REDUCE_COLUMNS.outer, outer)
                                .set(REDUCE_COLUMNS.m, m)
                                .set(REDUCE_COLUMNS.inner, inner)
                                .set(REDUCE_COLUMNS.part, grid.part())
                                .set(REDUCE_COLUMNS.width, grid.width())
                                .set(REDUCE_COLUMNS.kind, pass.kind)
                                .set(REDUCE_COLUMNS.as, pass.as));
    }
}
