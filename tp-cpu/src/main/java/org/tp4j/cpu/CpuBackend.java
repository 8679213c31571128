package org.tp4j.cpu;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.tp4j.cpu.internal.blas.Blas;
import org.tp4j.cpu.internal.blas.NetlibBlas;
import org.tp4j.cpu.internal.kernels.CpuElementwise;
import org.tp4j.cpu.internal.kernels.CpuGemm;
import org.tp4j.cpu.internal.kernels.CpuLoss;
import org.tp4j.cpu.internal.kernels.CpuNorm;
import org.tp4j.cpu.internal.kernels.CpuOptimizer;
import org.tp4j.cpu.internal.kernels.CpuRandom;
import org.tp4j.cpu.internal.kernels.CpuReduction;
import org.tp4j.cpu.internal.memory.ArrayKind;
import org.tp4j.cpu.internal.memory.ArrayPool;
import org.tp4j.cpu.internal.memory.HostStorage;
import org.tp4j.cpu.internal.scalar.FloatKernels;
import org.tp4j.cpu.internal.scalar.ScalarFloatKernels;
import org.tp4j.cpu.internal.vector.VectorFloatKernels;
import org.tp4j.tensor.Backend;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.Device;
import org.tp4j.tensor.ElementwiseKernels;
import org.tp4j.tensor.ExecutionContext;
import org.tp4j.tensor.GemmKernels;
import org.tp4j.tensor.LossKernels;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.NormKernels;
import org.tp4j.tensor.OptimizerKernels;
import org.tp4j.tensor.OutOfMemoryException;
import org.tp4j.tensor.RandomKernels;
import org.tp4j.tensor.ReductionKernels;
import org.tp4j.tensor.Scope;
import org.tp4j.tensor.Storage;
import org.tp4j.tensor.TpException;
import org.tp4j.tensor.internal.Notices;

/**
 * The backend of the host's processor: Java arrays, pooled ({@link HostStorage}); matrix products by OpenBLAS; every call
 * returns when its work is done.
 *
 * <p>System properties, read once: {@code tp4j.cpu.poolBytes} is how much freed memory is kept for reuse (default: six
 * tenths of the maximum heap); {@code tp4j.cpu.poison=true} fills memory with NaN when it is allocated and when it is
 * freed, which exposes reads before the first write and after the free; {@code tp4j.cpu.vector=false} disables the
 * Vector API.
 */
public final class CpuBackend implements Backend {
    private static final double POOL_SHARE_OF_HEAP = 0.6;

    private final ArrayPool pool;
    private final Blas blas;
    private final FloatKernels floats;
    private final ElementwiseKernels elementwise;
    private final ReductionKernels reduction;
    private final GemmKernels gemm;
    private final NormKernels norm;
    private final LossKernels loss;
    private final RandomKernels random;
    private final OptimizerKernels optimizer;

    /** A backend of these parts, for {@link #get} and tests. */
    public CpuBackend(ArrayPool pool, Blas blas, FloatKernels floats) {
        this.pool = pool;
        this.blas = blas;
        this.floats = floats;
        this.elementwise = new CpuElementwise(floats, pool);
        this.reduction = new CpuReduction(floats, pool);
        this.gemm = new CpuGemm(blas, floats, pool);
        this.norm = new CpuNorm(floats, pool);
        this.loss = new CpuLoss(floats, pool);
        this.random = new CpuRandom(floats, pool);
        this.optimizer = new CpuOptimizer(floats, pool);
    }

    /** The process's backend; all ranks that are threads share it. */
    public static CpuBackend get() {
        return Holder.INSTANCE;
    }

    private static final class Holder {
        static final CpuBackend INSTANCE = create();

        private static CpuBackend create() {
            long share = (long) (Runtime.getRuntime().maxMemory() * POOL_SHARE_OF_HEAP);
            long limit = Long.getLong("tp4j.cpu.poolBytes", share);
            Blas blas = NetlibBlas.load();
            blas.setThreads(Runtime.getRuntime().availableProcessors());
            return new CpuBackend(
                    new ArrayPool(limit, Boolean.getBoolean("tp4j.cpu.poison")), blas, chooseFloatKernels());
        }

        /** The Vector API's loops where its module is in the boot layer, otherwise the scalar ones. */
        private static FloatKernels chooseFloatKernels() {
            boolean wanted = !"false".equals(System.getProperty("tp4j.cpu.vector"));
            if (wanted && ModuleLayer.boot().findModule("jdk.incubator.vector").isPresent()) {
                return VectorFloatKernels.warmedUpInTheBackground();
            }
            if (wanted) {
                Notices.warn(
                        CpuBackend.class,
                        "the Vector API is not available, so functions such as GELU run as scalar code, several times slower."
                                + " HINT: start Java with --add-modules jdk.incubator.vector, or accept it with"
                                + " -Dtp4j.cpu.vector=false");
            }
            return new ScalarFloatKernels();
        }
    }

    /**
     * Sets how many threads one matrix product may use in this process. Use the number of cores divided by the ranks on the
     * machine: with more, ranks wait for each other's threads. The default is the number of cores.
     *
     * @throws IllegalArgumentException if it is below 1
     */
    public void setBlasThreads(int threads) {
        if (threads < 1) {
            throw new IllegalArgumentException("BLAS threads must be at least 1, was " + threads);
        }
        blas.setThreads(threads);
    }

    /** How many threads one matrix product may use. */
    public int blasThreads() {
        return blas.threads();
    }

    /** A description of what computes matrix products. */
    public String blasDescription() {
        return blas.description();
    }

    /** A description of what computes elementwise kernels. */
    public String vectorDescription() {
        return floats.description();
    }

    /** Bytes of freed memory kept for reuse, not counting the small pieces that threads keep for themselves. */
    public long pooledBytes() {
        return pool.pooledBytes();
    }

    /** How many arrays have been allocated so far; constant while a warm training step runs. */
    public long arraysCreated() {
        return pool.created();
    }

    /** Drops the freed memory that is kept for reuse. */
    public void clearPool() {
        pool.clear();
    }

    @Override
    public Device device() {
        return Device.CPU;
    }

    @Override
    public String description() {
        int threads = blasThreads();
        return "cpu, " + blasDescription().replaceAll(" \\(.*", "") + " with " + threads
                + (threads == 1 ? " thread" : " threads") + " per rank";
    }

    @Override
    public Storage allocate(DType dtype, long elements) {
        if (elements > ArrayPool.MAX_ELEMENTS) {
            throw new TpException("a tensor of " + elements + " " + dtype + " elements was asked for; the CPU backend"
                    + " keeps a tensor in one Java array, which holds at most 2^31 - 1 elements ("
                    + ArrayPool.MAX_ELEMENTS
                    + " on this virtual machine); HINT: shard the tensor over more ranks, or split it");
        }
        HostStorage storage = new HostStorage(pool, dtype, elements, takeOrExplain(dtype, (int) elements));
        Scope scope = ExecutionContext.current().scope();
        if (scope != null) {
            scope.own(storage);
        }
        return storage;
    }

    private Object takeOrExplain(DType dtype, int elements) {
        try {
            return pool.take(dtype, elements);
        } catch (OutOfMemoryError e) {
            Runtime runtime = Runtime.getRuntime();
            long free = runtime.maxMemory() - runtime.totalMemory() + runtime.freeMemory();
            throw new OutOfMemoryException(
                    device(),
                    (long) elements * dtype.bytes(),
                    elements + " " + dtype + " elements in one piece; " + free + " of " + runtime.maxMemory()
                            + " bytes of heap are free",
                    "open a Scope per step and close it, raise the heap with -Xmx, use a smaller batch, or more ranks",
                    e);
        }
    }

    @Override
    public void copyOut(NdArray from, ByteBuffer to) {
        Object array = ((HostStorage) from.storage()).array();
        int n = (int) from.elements();
        ByteBuffer view = to.duplicate().order(ByteOrder.LITTLE_ENDIAN);
        ArrayKind.of(from.dtype()).write(array, (int) from.offset(), n, view);
        to.position(to.position() + n * from.dtype().bytes());
    }

    @Override
    public void copyIn(ByteBuffer from, NdArray to) {
        Object array = ((HostStorage) to.storage()).array();
        int n = (int) to.elements();
        ByteBuffer view = from.duplicate().order(ByteOrder.LITTLE_ENDIAN);
        ArrayKind.of(to.dtype()).read(view, array, (int) to.offset(), n);
        from.position(from.position() + n * to.dtype().bytes());
    }

    @Override
    public void synchronize() {
        // nothing is asynchronous here
    }

    @Override
    public ElementwiseKernels elementwise() {
        return elementwise;
    }

    @Override
    public ReductionKernels reduction() {
        return reduction;
    }

    @Override
    public GemmKernels gemm() {
        return gemm;
    }

    @Override
    public NormKernels norm() {
        return norm;
    }

    @Override
    public LossKernels loss() {
        return loss;
    }

    @Override
    public RandomKernels random() {
        return random;
    }

    @Override
    public OptimizerKernels optimizer() {
        return optimizer;
    }
}
