package org.tp4j.cuda.internal.kernels;

import static org.tp4j.cuda.internal.arguments.EmbeddingArguments.ADD_ROWS;
import static org.tp4j.cuda.internal.arguments.EmbeddingArguments.FIRST_OUTSIDE;
import static org.tp4j.cuda.internal.arguments.EmbeddingArguments.GATHER_ROWS;
import static org.tp4j.cuda.internal.arguments.EmbeddingArguments.GROUP_IDS;
import static org.tp4j.cuda.internal.arguments.RowArguments.CROSS_ENTROPY;
import static org.tp4j.cuda.internal.arguments.RowArguments.CROSS_ENTROPY_GRAD;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.tp4j.cuda.internal.capture.Capture;
import org.tp4j.cuda.internal.capture.IdChecks;
import org.tp4j.cuda.internal.compile.KernelConstants;
import org.tp4j.cuda.internal.driver.DeviceStream;
import org.tp4j.cuda.internal.launch.Arguments;
import org.tp4j.cuda.internal.launch.KernelFamily;
import org.tp4j.cuda.internal.launch.Kernels;
import org.tp4j.cuda.internal.launch.RowGrid;
import org.tp4j.cuda.internal.memory.MemoryPool;
import org.tp4j.cuda.internal.memory.PinnedStaging;
import org.tp4j.cuda.internal.memory.Workspace;
import org.tp4j.tensor.CrossEntropyOptions;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.ExecutionContext;
import org.tp4j.tensor.LossKernels;
import org.tp4j.tensor.NdArray;

/** Embedding look-up and cross entropy on a GPU. */
public final class CudaLoss implements LossKernels {
    private static final int CHECK_THREADS = 256;
    private static final int CHECKS_A_THREAD = 8;
    private static final int MOST_CHECK_BLOCKS = 64; // whose results the host scans
    private static final int ADD_THREADS = 128;
    private static final int GROUP_THREADS = 256;
    private static final int USED_BYTES = 16; // two counters, padded to align what follows
    private static final int PACKS_A_BLOCK = 4096; // of a row's gradient

    private final MemoryPool pool;
    private final PinnedStaging staging;
    private final DeviceStream stream;
    private final KernelFamily gatherRows;
    private final KernelFamily groupIds;
    private final KernelFamily addRows;
    private final KernelFamily firstOutside;
    private final KernelFamily crossEntropy;
    private final KernelFamily crossEntropyGrad;

    public CudaLoss(Kernels kernels, MemoryPool pool, PinnedStaging staging, DeviceStream stream) {
        this.pool = pool;
        this.staging = staging;
        this.stream = stream;
        gatherRows = new KernelFamily(kernels, "embedding", "gatherRows");
        groupIds = new KernelFamily(kernels, "embedding", "groupIds");
        addRows = new KernelFamily(kernels, "embedding", "addRows");
        firstOutside = new KernelFamily(kernels, "ids", "firstOutside");
        crossEntropy = new KernelFamily(kernels, "softmax", "crossEntropy");
        crossEntropyGrad = new KernelFamily(kernels, "softmax", "crossEntropyGrad");
    }

    private static boolean wide(NdArray ids) {
        return ids.dtype() == DType.INT64;
    }

    @Override
    public void gatherRows(NdArray table, NdArray ids, long firstRow, NdArray out) {
        long n = table.shape().size(-1);
        RowGrid grid = RowGrid.ofLoop(ids.elements(), n, out);
        gatherRows
                .of(table.dtype())
                .launch(
                        grid.blocks(),
                        grid.threads(),
                        Arguments.of(GATHER_ROWS)
                                .set(GATHER_ROWS.table, table)
                                .set(GATHER_ROWS.ids, ids)
                                .set(GATHER_ROWS.out, out)
                                .set(GATHER_ROWS.tableRows, table.shape().size(0))
                                .set(GATHER_ROWS.firstRow, firstRow)
                                .set(GATHER_ROWS.count, ids.elements())
                                .set(GATHER_ROWS.n, (int) n)
                                .set(GATHER_ROWS.wideIds, wide(ids))
                                .set(GATHER_ROWS.group, grid.group()));
    }

    /**
     * The positions of each row's ids are listed in order, then each row is accumulated by its own threads. The list
     * costs tableRows / 32 warps two passes over all ids; the additions read dy once and each named row once.
     */
    @Override
    public void scatterAddRows(NdArray dy, NdArray ids, long firstRow, long paddingId, NdArray dTable) {
        long count = ids.elements();
        long rows = dTable.shape().size(0);
        int n = (int) dTable.shape().size(-1);
        long most = Math.min(count, rows);
        if (most == 0 || n == 0) {
            return;
        }
        DType dtype = dTable.dtype();
        long namedBytes = most * KernelConstants.NAMED_BYTES;
        try (Workspace workspace = new Workspace(pool, USED_BYTES + namedBytes + count * Integer.BYTES)) {
            long used = workspace.address();
            long named = used + USED_BYTES;
            long list = named + namedBytes;
            workspace.clear(stream, USED_BYTES);
            groupIds.of(dtype)
                    .launch(
                            (rows + GROUP_THREADS - 1) / GROUP_THREADS,
                            GROUP_THREADS,
                            Arguments.of(GROUP_IDS)
                                    .set(GROUP_IDS.ids, ids)
                                    .set(GROUP_IDS.count, count)
                                    .set(GROUP_IDS.firstRow, firstRow)
                                    .set(GROUP_IDS.tableRows, rows)
                                    .set(GROUP_IDS.padding, paddingId)
                                    .set(GROUP_IDS.used, used)
                                    .set(GROUP_IDS.named, named)
                                    .set(GROUP_IDS.list, list)
                                    .set(GROUP_IDS.wideIds, wide(ids)));
            addRows.of(dy.dtype())
                    .launch(
                            most,
                            1 + (n - 1) / (ADD_THREADS * 16 / dy.dtype().bytes()),
                            ADD_THREADS,
                            0,
                            Arguments.of(ADD_ROWS)
                                    .set(ADD_ROWS.dy, dy)
                                    .set(ADD_ROWS.table, dTable)
                                    .set(ADD_ROWS.used, used)
                                    .set(ADD_ROWS.named, named)
                                    .set(ADD_ROWS.list, list)
                                    .set(ADD_ROWS.n, n)
                                    .set(ADD_ROWS.wide, dTable.dtype() != dy.dtype()));
        }
    }

    @Override
    public long firstOutside(NdArray ids, long low, long high, long except) {
        long count = ids.elements();
        if (count == 0) {
            return -1;
        }
        int blocks = (int) Math.min(MOST_CHECK_BLOCKS, 1 + count / (CHECK_THREADS * CHECKS_A_THREAD));
        int bytes = blocks * Long.BYTES;
        try (Workspace found = new Workspace(pool, bytes)) {
            firstOutside
                    .of(ids.dtype())
                    .launch(
                            blocks,
                            CHECK_THREADS,
                            Arguments.of(FIRST_OUTSIDE)
                                    .set(FIRST_OUTSIDE.ids, ids)
                                    .set(FIRST_OUTSIDE.first, found.address())
                                    .set(FIRST_OUTSIDE.count, count)
                                    .set(FIRST_OUTSIDE.low, low)
                                    .set(FIRST_OUTSIDE.high, high)
                                    .set(FIRST_OUTSIDE.except, except));
            IdChecks captured = Capture.idChecks();
            if (captured != null) {
                String module = ExecutionContext.current().modulePath();
                captured.add(
                        found.memory(),
                        blocks,
                        "ids " + ids.shape() + (module.isEmpty() ? "" : " in " + module) + " that is outside " + low
                                + " to " + (high - 1));
                return -1;
            }
            ByteBuffer each = ByteBuffer.allocate(bytes).order(ByteOrder.nativeOrder());
            staging.copyOut(found.memory(), each, bytes);
            long first = Long.MAX_VALUE;
            for (int i = 0; i < blocks; i++) {
                first = Math.min(first, each.getLong(i * Long.BYTES));
            }
            return first == Long.MAX_VALUE ? -1 : first;
        }
    }

    @Override
    public void crossEntropy(
            NdArray logits, NdArray labels, CrossEntropyOptions options, NdArray loss, NdArray max, NdArray sum) {
        long n = logits.shape().size(-1);
        RowGrid grid = RowGrid.ofLoop(labels.elements(), n, logits);
        crossEntropy
                .of(logits.dtype())
                .launch(
                        grid.blocks(),
                        grid.threads(),
                        Arguments.of(CROSS_ENTROPY)
                                .set(CROSS_ENTROPY.logits, logits)
                                .set(CROSS_ENTROPY.labels, labels)
                                .set(CROSS_ENTROPY.loss, loss)
                                .set(CROSS_ENTROPY.top, max)
                                .set(CROSS_ENTROPY.sum, sum)
                                .set(CROSS_ENTROPY.rows, labels.elements())
                                .set(CROSS_ENTROPY.ignored, options.ignoreIndex())
                                .set(CROSS_ENTROPY.smoothing, options.labelSmoothing())
                                .set(CROSS_ENTROPY.zLoss, options.zLoss())
                                .set(CROSS_ENTROPY.n, (int) n)
                                .set(CROSS_ENTROPY.wideLabels, wide(labels))
                                .set(CROSS_ENTROPY.group, grid.group()));
    }

    @Override
    public void crossEntropyGrad(
            NdArray logits,
            NdArray labels,
            CrossEntropyOptions options,
            NdArray max,
            NdArray sum,
            NdArray dLoss,
            NdArray dLogits) {
        long n = logits.shape().size(-1);
        RowGrid grid = RowGrid.ofLoop(labels.elements(), n, logits);
        crossEntropyGrad
                .of(logits.dtype())
                .launch(
                        grid.blocks(),
                        1 + grid.packs() / PACKS_A_BLOCK,
                        grid.threads(),
                        0,
                        Arguments.of(CROSS_ENTROPY_GRAD)
                                .set(CROSS_ENTROPY_GRAD.logits, logits)
                                .set(CROSS_ENTROPY_GRAD.labels, labels)
                                .set(CROSS_ENTROPY_GRAD.top, max)
                                .set(CROSS_ENTROPY_GRAD.sum, sum)
                                .set(CROSS_ENTROPY_GRAD.dLoss, dLoss)
                                .set(CROSS_ENTROPY_GRAD.dLogits, dLogits)
                                .set(CROSS_ENTROPY_GRAD.rows, labels.elements())
                                .set(CROSS_ENTROPY_GRAD.ignored, options.ignoreIndex())
                                .set(CROSS_ENTROPY_GRAD.smoothing, options.labelSmoothing())
                                .set(CROSS_ENTROPY_GRAD.zLoss, options.zLoss())
                                .set(CROSS_ENTROPY_GRAD.n, (int) n)
                                .set(CROSS_ENTROPY_GRAD.wideLabels, wide(labels))
                                .set(CROSS_ENTROPY_GRAD.group, grid.group()));
    }
}
