package org.tp4j.tensor;

import java.nio.ByteBuffer;
import org.tp4j.tensor.meta.MetaBackend;

/**
 * A device's memory and kernels. One object per device, shared by all threads; {@link #allocate} and the kernels may be
 * called from several threads at once on different arrays.
 *
 * <p>Contract of every kernel: arrays are contiguous, live and awaited; {@code out} is fully overwritten unless said
 * otherwise and may be the same window as an input of equal shape for elementwise kernels; shapes and types have been
 * checked by the caller; empty arrays are legal. Floating results of 16-bit types are computed in 32 bits and rounded
 * once, to nearest even.
 */
public interface Backend {
    /** The device computed on. */
    Device device();

    /** A description of what computes, for people. */
    default String description() {
        return device().toString();
    }

    /** Whether arrays have content that can be read; false where only shapes are kept ({@link MetaBackend}). */
    default boolean holdsValues() {
        return true;
    }

    /**
     * New memory, its content undefined, owned by the current thread's {@link Scope} if one is open.
     *
     * @throws TpException if there is not enough memory, with the size requested and which scope holds what
     */
    Storage allocate(DType dtype, long elements);

    /**
     * Copies raw little-endian elements from the device into the remaining bytes of {@code to}, whose position moves on;
     * waits for it.
     */
    void copyOut(NdArray from, ByteBuffer to);

    /**
     * Copies raw little-endian elements from the remaining bytes of {@code from}, whose position moves on, to the device;
     * waits for it.
     */
    void copyIn(ByteBuffer from, NdArray to);

    /** Waits for all work that this thread has enqueued on the device so far. */
    void synchronize();

    /**
     * Captures a step to be run many times, where the device can run a whole step at once. Each {@link CapturedStep#run} is
     * one step.
     */
    default CapturedStep capture(Runnable step) {
        return new CapturedStep() {
            @Override
            public void run() {
                step.run();
            }

            @Override
            public void close() {}
        };
    }

    /** Elementwise kernels. */
    ElementwiseKernels elementwise();

    /** Reductions, softmax and arg-max. */
    ReductionKernels reduction();

    /** Matrix products. */
    GemmKernels gemm();

    /** Layer norm and RMS norm. */
    NormKernels norm();

    /** Embedding look-up and cross entropy. */
    LossKernels loss();

    /** Counter-based random numbers. */
    RandomKernels random();

    /** Optimizer steps. */
    OptimizerKernels optimizer();
}
