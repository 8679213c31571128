package org.tp4j.cuda;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import jcuda.driver.JCudaDriver;
import org.jspecify.annotations.Nullable;
import org.tp4j.tensor.Backend;
import org.tp4j.tensor.CapturedStep;
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

/**
 * The backend of one GPU. Kernels and products are asked of the compute stream and return at once; {@link #copyOut} and
 * {@link #synchronize} wait. Collectives have a stream of their own with a higher priority.
 *
 * <p>Memory is kept between uses ({@link MemoryPool}). An error of a kernel shows at a later call: the device's errors come
 * when something waits for it.
 */
public final class CudaBackend implements Backend {
    private static final Map<Integer, CudaBackend> OPEN = new HashMap<>();

    private final CudaDevice device;
    private final EventPool events;
    private final CudaStream compute;
    private final CudaStream communication;
    private final List<CudaStream> streams = new CopyOnWriteArrayList<>();
    private final int highestPriority;
    private final MemoryPool pool;
    private final PinnedStaging staging;
    private final Kernels kernels;
    private final CudaElementwise elementwise;
    private final CudaRandom random;
    private final CudaOptimizer optimizer;
    private final CudaGemm gemm;
    private final CudaReduction reduction;
    private final CudaNorm norm;
    private final CudaLoss loss;
    private final List<GraphStep> captured = new CopyOnWriteArrayList<>();
    private volatile @Nullable RuntimeException failure;
    private volatile @Nullable Consumer<CudaEvent> stepWatcher;

    private CudaBackend(int index) {
        this.device = new CudaDevice(index);
        device.makeCurrent();
        int[] least = {0};
        int[] greatest = {0};
        Cuda.check(JCudaDriver.cuCtxGetStreamPriorityRange(least, greatest), "cuCtxGetStreamPriorityRange");
        this.events = new EventPool(device);
        this.compute = new CudaStream(device, events, "compute", least[0]);
        this.communication = new CudaStream(device, events, "communication", greatest[0]);
        this.highestPriority = greatest[0];
        streams.add(compute);
        streams.add(communication);
        this.pool = new MemoryPool(device, compute);
        this.staging = new PinnedStaging(device, compute);
        this.kernels = new Kernels(device, compute);
        this.elementwise = new CudaElementwise(kernels, compute);
        this.random = new CudaRandom(kernels);
        this.optimizer = new CudaOptimizer(kernels);
        this.gemm = new CudaGemm(device, compute, pool);
        ReductionPasses passes = new ReductionPasses(kernels, pool);
        this.reduction = new CudaReduction(kernels, passes);
        this.norm = new CudaNorm(kernels, pool, passes);
        this.loss = new CudaLoss(kernels, pool, staging, compute);
    }

    /**
     * The backend of a device, one a process.
     *
     * @param index which of the driver's devices, from 0
     * @throws TpException if it cannot be used, with what was looked for and what to install
     */
    public static CudaBackend of(int index) {
        synchronized (OPEN) {
            CudaBackend backend = OPEN.get(index);
            if (backend == null) {
                if (OPEN.isEmpty()) {
                    ProcessEnd.watch();
                }
                backend = new CudaBackend(index);
                OPEN.put(index, backend);
            }
            return backend;
        }
    }

    @Override
    public Device device() {
        return new Device("cuda", device.index());
    }

    /** Which of the driver's devices it is. */
    public int deviceIndex() {
        return device.index();
    }

    @Override
    public String description() {
        return device() + ", " + device.name() + ", compute capability " + device.computeCapability() / 10 + "."
                + device.computeCapability() % 10;
    }

    /** Makes the device's context the current thread's, for calls of other CUDA libraries and after such calls. */
    public void makeCurrent() {
        device.makeCurrentForOthers();
    }

    /** The stream that kernels and products run on. */
    public CudaStream computeStream() {
        return compute;
    }

    /** The stream that collectives run on; its work goes before the compute stream's. */
    public CudaStream communicationStream() {
        return communication;
    }

    /** A stream beside these two, with the priority of the communication stream; {@link #release(CudaStream)} frees it. */
    public CudaStream newStream(String name) {
        CudaStream stream = new CudaStream(device, events, name, highestPriority);
        streams.add(stream);
        return stream;
    }

    /** Frees a stream of {@link #newStream}, once its work is done. */
    public void release(CudaStream stream) {
        if (stream != compute && stream != communication && streams.remove(stream)) {
            stream.release();
        }
    }

    /**
     * Tells {@code watcher} of each run of a captured step, with an event that is the watcher's to close and is done when the
     * step is; null ends it.
     */
    public void watchCapturedSteps(@Nullable Consumer<CudaEvent> watcher) {
        stepWatcher = watcher;
    }

    /** A captured step has been asked of the compute stream. */
    void stepLaunched() {
        Consumer<CudaEvent> watcher = stepWatcher;
        if (watcher != null) {
            watcher.accept(compute.record());
        }
    }

    /** All streams that work of tensors is asked of, the compute stream first. */
    List<CudaStream> streams() {
        return streams;
    }

    /** The address of an array's first element in device memory. */
    public long address(NdArray array) {
        return addressOf(array);
    }

    static long addressOf(NdArray array) {
        CudaStorage storage = (CudaStorage) array.storage();
        return storage.memory().address() + array.offset() * array.dtype().bytes();
    }

    static DeviceMemory pointerTo(NdArray array) {
        CudaStorage storage = (CudaStorage) array.storage();
        return storage.memory().at(array.offset() * array.dtype().bytes());
    }

    /**
     * Says that another stream uses the array's memory until {@code event}: nobody else gets it before. The event may be
     * closed as soon as its point has been passed or the compute stream waits for it, not earlier.
     */
    public void usedOn(NdArray array, CudaEvent event) {
        ((CudaStorage) array.storage()).lease().addUse(event);
    }

    /**
     * Notes that what the device computes can no longer be trusted: every later call that asks for work or waits throws
     * {@code reason}. The first reason stays.
     */
    public void fail(RuntimeException reason) {
        if (failure == null) {
            failure = reason;
        }
    }

    /** Takes back what {@link #fail} has noted, once whatever was wrong is over: for a new job on the same device. */
    public void recover() {
        failure = null;
    }

    /** Throws what {@link #fail} was given, if it was. */
    public void checkUsable() {
        RuntimeException reason = failure;
        if (reason != null) {
            throw reason;
        }
    }

    @Override
    public Storage allocate(DType dtype, long elements) {
        checkUsable();
        long bytes = Math.multiplyExact(elements, dtype.bytes());
        Lease lease = pool.take(bytes);
        if (lease == null) {
            throw outOfMemory(dtype, elements);
        }
        CudaStorage storage = new CudaStorage(dtype, elements, lease);
        Scope scope = ExecutionContext.current().scope();
        if (scope != null) {
            scope.own(storage);
        }
        return storage;
    }

    private OutOfMemoryException outOfMemory(DType dtype, long elements) {
        long[] free = {0};
        long[] total = {0};
        JCudaDriver.cuMemGetInfo(free, total);
        return new OutOfMemoryException(
                device(),
                elements * dtype.bytes(),
                elements + " " + dtype + " elements; " + free[0] + " of " + total[0] + " bytes are free, "
                        + pool.usedBytes() + " are in use by tensors of this process, which holds " + pool.heldBytes()
                        + " in all",
                "use a smaller batch or more ranks, and see with nvidia-smi who else uses the device",
                null);
    }

    @Override
    public void copyOut(NdArray from, ByteBuffer to) {
        checkUsable();
        staging.copyOut(pointerTo(from), to, from.elements() * from.dtype().bytes());
        checkWaited();
    }

    @Override
    public void copyIn(ByteBuffer from, NdArray to) {
        checkUsable();
        staging.copyIn(from, pointerTo(to), to.elements() * to.dtype().bytes());
        checkUsable();
    }

    @Override
    public void synchronize() {
        checkUsable();
        compute.synchronize();
        checkWaited();
    }

    @Override
    public CapturedStep capture(Runnable step) {
        return new GraphStep(this, step);
    }

    /** After the host has waited for the device. */
    private void checkWaited() {
        checkUsable();
        for (GraphStep step : captured) {
            step.verify();
        }
    }

    /** The captured steps that have not been closed. */
    List<GraphStep> captured() {
        return captured;
    }

    MemoryPool pool() {
        return pool;
    }

    /** Records from now on what is asked of the streams; null ends it. */
    public void setTrace(@Nullable StreamTrace trace) {
        streams.forEach(stream -> stream.setTrace(trace));
    }

    /** Bytes of device memory in use by tensors. */
    public long usedBytes() {
        return pool.usedBytes();
    }

    /** Bytes of device memory held of the driver, in use or kept for use. */
    public long heldBytes() {
        return pool.heldBytes();
    }

    /** How often the driver was asked for memory or given it back; constant while a warm training step runs. */
    public long driverCalls() {
        return pool.driverCalls();
    }

    /** Gives memory that is kept for use back to the driver. */
    public void trimMemory() {
        pool.trim();
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

    /**
     * Gives everything of this process's devices back: memory, streams, events, kernels. Tensors on them can no longer be
     * used. Without a call the driver does it when the process ends.
     */
    public static void releaseAll() {
        synchronized (OPEN) {
            List<CudaBackend> backends = new ArrayList<>(OPEN.values());
            OPEN.clear();
            for (CudaBackend backend : backends) {
                backend.release();
            }
        }
    }

    /** Releases every device on which nothing goes on any more; those of a job that has not ended are left to the driver. */
    static void releaseIdle() {
        synchronized (OPEN) {
            OPEN.values().removeIf(backend -> {
                boolean idle = backend.failure == null && backend.stepWatcher == null && backend.isIdle();
                if (idle) {
                    backend.release();
                }
                return idle;
            });
        }
    }

    private boolean isIdle() {
        try {
            return streams.stream().allMatch(CudaStream::isIdle);
        } catch (CudaException e) {
            return false;
        }
    }

    private void release() {
        device.makeCurrent();
        fail(new TpException(device() + " has been released"));
        gemm.release();
        staging.release();
        kernels.release();
        pool.release();
        events.release();
        streams.forEach(CudaStream::release);
        device.release();
    }
}
