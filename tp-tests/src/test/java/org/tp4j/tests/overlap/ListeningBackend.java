package org.tp4j.tests.overlap;

import java.nio.ByteBuffer;
import org.tp4j.tensor.Backend;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.Device;
import org.tp4j.tensor.ElementwiseKernels;
import org.tp4j.tensor.GemmKernels;
import org.tp4j.tensor.LossKernels;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.NormKernels;
import org.tp4j.tensor.OptimizerKernels;
import org.tp4j.tensor.RandomKernels;
import org.tp4j.tensor.ReductionKernels;
import org.tp4j.tensor.Storage;

/** A backend that tells of each matrix product before it is computed. */
final class ListeningBackend implements Backend {
    private final Backend inner;
    private final GemmKernels gemm;

    /** What is told. */
    interface Listener {
        void product(int m, int n, int k);
    }

    ListeningBackend(Backend inner, Listener listener) {
        this.inner = inner;
        this.gemm = (ta, tb, m, n, k, alpha, a, strideA, b, strideB, beta, c, strideC, batch) -> {
            listener.product(m, n, k);
            inner.gemm().gemm(ta, tb, m, n, k, alpha, a, strideA, b, strideB, beta, c, strideC, batch);
        };
    }

    @Override
    public Device device() {
        return inner.device();
    }

    @Override
    public Storage allocate(DType dtype, long elements) {
        return inner.allocate(dtype, elements);
    }

    @Override
    public void copyOut(NdArray from, ByteBuffer to) {
        inner.copyOut(from, to);
    }

    @Override
    public void copyIn(ByteBuffer from, NdArray to) {
        inner.copyIn(from, to);
    }

    @Override
    public void synchronize() {
        inner.synchronize();
    }

    @Override
    public ElementwiseKernels elementwise() {
        return inner.elementwise();
    }

    @Override
    public ReductionKernels reduction() {
        return inner.reduction();
    }

    @Override
    public GemmKernels gemm() {
        return gemm;
    }

    @Override
    public NormKernels norm() {
        return inner.norm();
    }

    @Override
    public LossKernels loss() {
        return inner.loss();
    }

    @Override
    public RandomKernels random() {
        return inner.random();
    }

    @Override
    public OptimizerKernels optimizer() {
        return inner.optimizer();
    }
}
