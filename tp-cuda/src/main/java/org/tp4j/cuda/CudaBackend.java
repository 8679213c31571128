package org.tp4j.cuda;

import java.nio.ByteBuffer;
import java.util.function.Consumer;
import jcuda.driver.CUstream;
import org.jspecify.annotations.Nullable;
import org.tp4j.cuda.internal.capture.CapturedSteps;
import org.tp4j.cuda.internal.compile.ImageRegistry;
import org.tp4j.cuda.internal.driver.CudaDevice;
import org.tp4j.cuda.internal.driver.DeviceHealth;
import org.tp4j.cuda.internal.driver.DeviceStream;
import org.tp4j.cuda.internal.driver.DeviceStreams;
import org.tp4j.cuda.internal.kernels.CudaElementwise;
import org.tp4j.cuda.internal.kernels.CudaGemm;
import org.tp4j.cuda.internal.kernels.CudaLoss;
import org.tp4j.cuda.internal.kernels.CudaNorm;
import org.tp4j.cuda.internal.kernels.CudaOptimizer;
import org.tp4j.cuda.internal.kernels.CudaOrder;
import org.tp4j.cuda.internal.kernels.CudaRandom;
import org.tp4j.cuda.internal.kernels.CudaReduction;
import org.tp4j.cuda.internal.kernels.ReductionPasses;
import org.tp4j.cuda.internal.launch.Kernels;
import org.tp4j.cuda.internal.memory.CudaStorage;
import org.tp4j.cuda.internal.memory.Lease;
import org.tp4j.cuda.internal.memory.MemoryPool;
import org.tp4j.cuda.internal.memory.PinnedStaging;
import org.tp4j.cuda.stream.CudaEvent;
import org.tp4j.cuda.stream.CudaException;
import org.tp4j.cuda.stream.CudaStream;
import org.tp4j.cuda.stream.StreamTrace;
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
import org.tp4j.tensor.RandomKernels;
import org.tp4j.tensor.ReductionKernels;
import org.tp4j.tensor.Scope;
import org.tp4j.tensor.Storage;
import org.tp4j.tensor.TpException;

/**
 * The backend of one GPU. Kernels, products and copies between tensors are enqueued on the compute stream and return at once;
 * {@link #copyOut} and {@link #synchronize} wait, {@link #copyIn} does where several copies are still under way. Collectives have a stream of their own with a higher
 * priority.
 *
 * <p>Memory is kept for reuse; {@link #trimMemory} returns it to the driver. A kernel's error surfaces at a later call that
 * waits for the device.
 */
public final class CudaBackend implements Backend {
    private final CudaDevice device;
    private final DeviceHealth health = new DeviceHealth();
    private final DeviceStreams streams;
    private final MemoryPool pool;
    private final PinnedStaging staging;
    private final CapturedSteps capturedSteps;
    private final Kernels kernels;
    private final CudaElementwise elementwise;
    private final CudaRandom random;
    private final CudaOptimizer optimizer;
    private final CudaGemm gemm;
    private final CudaReduction reduction;
    private final CudaNorm norm;
    private final CudaLoss loss;
    private final CudaOrder order;

    CudaBackend(int index, int deviceCount, ImageRegistry images) {
        this.device = new CudaDevice(index, deviceCount);
        device.makeCurrent();
        this.streams = new DeviceStreams(device);
        DeviceStream compute = streams.compute();
        this.pool = new MemoryPool(device, compute, () -> streams.awaitIdle(health));
        this.staging = new PinnedStaging(device, compute);
        this.capturedSteps = new CapturedSteps(device, streams, pool, health);
        this.kernels = new Kernels(device, compute, images.forCapability(device.computeCapability()));
        this.elementwise = new CudaElementwise(kernels, compute);
        this.random = new CudaRandom(kernels);
        this.optimizer = new CudaOptimizer(kernels);
        this.gemm = new CudaGemm(device, compute, pool);
        ReductionPasses passes = new ReductionPasses(kernels, pool);
        this.reduction = new CudaReduction(kernels, passes);
        this.norm = new CudaNorm(kernels, pool, passes);
        this.loss = new CudaLoss(kernels, pool, staging, compute);
        this.order = new CudaOrder(kernels);
    }

    /**
     * The backend of a device, one per process.
     *
     * @param index which of the driver's devices, from 0
     * @throws TpException if the device cannot be used; the message names what was searched for and what to install
     */
    public static CudaBackend of(int index) {
        return OpenDevices.PROCESS.get(index);
    }

    @Override
    public Device device() {
        return device.asDevice();
    }

    /** The device's index among the driver's devices. */
    public int deviceIndex() {
        return device.index();
    }

    @Override
    public String description() {
        return device() + ", " + device.name() + ", compute capability " + device.computeCapability() / 10 + "."
                + device.computeCapability() % 10;
    }

    /** Makes the device's context current on this thread, before and after calls to other CUDA libraries. */
    public void makeCurrent() {
        device.forceCurrent();
    }

    /** The stream that kernels and products run on. */
    public CudaStream computeStream() {
        return streams.compute();
    }

    /** JCuda's object for the compute stream. */
    CUstream computeStreamHandle() {
        return streams.compute().stream();
    }

    /** The stream that collectives run on; its work goes before the compute stream's. */
    public CudaStream communicationStream() {
        return streams.communication();
    }

    /** Another stream with the priority of the communication stream; {@link #release(CudaStream)} frees it. */
    public CudaStream newStream(String name) {
        return streams.create(name);
    }

    /** Frees a stream of {@link #newStream} once its work has completed. */
    public void release(CudaStream stream) {
        streams.release(stream);
    }

    /**
     * Notifies {@code watcher} of each run of a captured step, with an event that completes when the step does and that the
     * watcher closes; null stops the notifications.
     */
    public void watchCapturedSteps(@Nullable Consumer<CudaEvent> watcher) {
        capturedSteps.watch(watcher);
    }

    /**
     * Destroys the graphs of captured steps that use streams other than the compute stream, as collectives do; those
     * steps can no longer run. NCCL does not destroy a communicator while a graph holds calls on it.
     */
    public void retireCapturedCollectives() {
        capturedSteps.retireThoseOfSeveralStreams();
    }

    /** The address of an array's first element in device memory. */
    public long address(NdArray array) {
        return CudaStorage.addressOf(array);
    }

    /**
     * Declares that another stream uses the array's memory until {@code event}, so it is not reused earlier. The event
     * may be closed only once its point has been passed or the compute stream waits for it.
     */
    public void usedOn(NdArray array, CudaEvent event) {
        CudaStorage.addUse(array, event);
    }

    /** The type of the integers that {@link #toOrderedBits} makes of floats: INT64 for FLOAT64, otherwise INT32. */
    public static DType orderedBitsOf(DType dtype) {
        return CudaOrder.bitsOf(dtype);
    }

    /**
     * Enqueues on a stream: {@code bits} become integers that order as the floats of {@code x} do, with -0 below +0.
     *
     * @param nanIsLowest whether NaN is below all numbers; otherwise it is above them
     */
    public void toOrderedBits(NdArray x, NdArray bits, boolean nanIsLowest, CudaStream stream) {
        order.toOrder(x, bits, nanIsLowest, (DeviceStream) stream);
    }

    /** Enqueues on a stream the reverse of {@link #toOrderedBits}; each NaN becomes the same one. */
    public void fromOrderedBits(NdArray bits, NdArray x, CudaStream stream) {
        order.fromOrder(bits, x, (DeviceStream) stream);
    }

    /** Holds an array's memory for a use on another stream that has no event yet. */
    public HeldMemory hold(NdArray array) {
        return new HeldMemory(array);
    }

    /**
     * Declares that the device's results can no longer be trusted: every later call that enqueues work or waits throws
     * {@code reason}. The first reason stays.
     */
    public void fail(RuntimeException reason) {
        health.fail(reason);
    }

    /** Undoes {@link #fail} once the cause is gone, so that a new job can use the device. */
    public void recover() {
        health.recover();
    }

    /** Throws the reason given to {@link #fail}, if any. */
    public void checkUsable() {
        health.check();
    }

    @Override
    public Storage allocate(DType dtype, long elements) {
        health.check();
        long bytes = Math.multiplyExact(elements, dtype.bytes());
        Lease lease = pool.take(bytes);
        if (lease == null) {
            throw pool.outOfMemory(bytes, elements + " " + dtype + " elements");
        }
        CudaStorage storage = new CudaStorage(dtype, elements, lease);
        Scope scope = ExecutionContext.current().scope();
        if (scope != null) {
            scope.own(storage);
        }
        return storage;
    }

    @Override
    public void copyOut(NdArray from, ByteBuffer to) {
        health.check();
        staging.copyOut(
                CudaStorage.pointerTo(from), to, from.elements() * from.dtype().bytes());
        checkWaited();
    }

    @Override
    public void copyIn(ByteBuffer from, NdArray to) {
        health.check();
        staging.copyIn(
                from, CudaStorage.pointerTo(to), to.elements() * to.dtype().bytes());
        health.check();
    }

    @Override
    public void synchronize() {
        health.check();
        streams.compute().synchronize();
        checkWaited();
    }

    @Override
    public CapturedStep capture(Runnable step) {
        return capturedSteps.capture(step);
    }

    /** After the host has waited for the device. */
    private void checkWaited() {
        health.check();
        capturedSteps.verify();
    }

    /** Records in {@code trace} what is enqueued on the streams from now on; null stops recording. */
    public void setTrace(@Nullable StreamTrace trace) {
        streams.setTrace(trace);
    }

    /** Bytes of device memory in use by tensors. */
    public long usedBytes() {
        return pool.usedBytes();
    }

    /** Bytes of device memory allocated from the driver, in use or kept for reuse. */
    public long heldBytes() {
        return pool.heldBytes();
    }

    /** Driver calls that allocated or freed memory; constant while a warm training step runs. */
    public long driverCalls() {
        return pool.driverCalls();
    }

    /** Returns the memory kept for reuse to the driver. */
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
     * Releases all devices of this process: memory, streams, events, kernels. Their tensors can no longer be used. Idle devices
     * are released automatically when the process ends.
     */
    public static void releaseAll() {
        OpenDevices.PROCESS.releaseAll();
    }

    /**
     * Whether no job uses the device: no failure, no watcher of captured steps, no pending work, and no thread that could
     * enqueue more while the device is released.
     */
    boolean isIdle() {
        try {
            return !health.hasFailed()
                    && !device.hasUsers()
                    && !capturedSteps.isWatched()
                    && streams.all().stream().allMatch(DeviceStream::isIdle);
        } catch (CudaException e) {
            return false;
        }
    }

    /** Releases the device. */
    void release() {
        device.makeCurrent();
        fail(new TpException(device() + " has been released"));
        gemm.release();
        staging.release();
        kernels.release();
        pool.release();
        streams.release();
        device.release();
    }
}
