package org.tp4j.tensor.meta;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.tp4j.tensor.Activation;
import org.tp4j.tensor.BinaryFunction;
import org.tp4j.tensor.ElementwiseKernels;
import org.tp4j.tensor.GemmKernels;
import org.tp4j.tensor.LossKernels;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.NormKernels;
import org.tp4j.tensor.OptimizerKernels;
import org.tp4j.tensor.ParameterUpdate;
import org.tp4j.tensor.RandomKernels;
import org.tp4j.tensor.ReductionKernels;
import org.tp4j.tensor.Region;
import org.tp4j.tensor.StepNumber;
import org.tp4j.tensor.UnaryFunction;

/** Kernels that do nothing; ids and labels are never found to be out of range. */
final class MetaKernels
        implements ElementwiseKernels,
                ReductionKernels,
                GemmKernels,
                NormKernels,
                LossKernels,
                RandomKernels,
                OptimizerKernels {
    @Override
    public void unary(UnaryFunction function, NdArray x, NdArray out, double a, double b) {}

    @Override
    public void binary(BinaryFunction function, NdArray a, NdArray b, NdArray out) {}

    @Override
    public void where(NdArray condition, NdArray a, NdArray b, NdArray out) {}

    @Override
    public void cast(NdArray x, NdArray out) {}

    @Override
    public void fill(NdArray out, double value) {}

    @Override
    public void addScaled(double alpha, NdArray x, NdArray y) {}

    @Override
    public void copy(
            NdArray src,
            long srcOffset,
            long[] srcStrides,
            NdArray dst,
            long dstOffset,
            long[] dstStrides,
            long[] sizes) {}

    @Override
    public void biasActivation(Activation activation, NdArray x, NdArray bias, NdArray out) {}

    @Override
    public void biasActivationGrad(Activation activation, NdArray x, NdArray bias, NdArray dy, NdArray dx) {}

    @Override
    public void gated(Activation activation, NdArray gate, NdArray up, NdArray out) {}

    @Override
    public void gatedGrad(Activation activation, NdArray gate, NdArray up, NdArray dy, NdArray dGate, NdArray dUp) {}

    @Override
    public void reduce(Kind kind, NdArray x, boolean[] reduced, NdArray out) {}

    @Override
    public void argmax(NdArray x, NdArray out) {}

    @Override
    public void softmax(NdArray x, boolean logarithm, NdArray out) {}

    @Override
    public void softmaxGrad(NdArray y, NdArray dy, boolean logarithm, NdArray dx) {}

    @Override
    public void gemm(
            boolean transposeA,
            boolean transposeB,
            int m,
            int n,
            int k,
            double alpha,
            NdArray a,
            long strideA,
            NdArray b,
            long strideB,
            double beta,
            NdArray c,
            long strideC,
            int batch) {}

    @Override
    public void layerNorm(
            NdArray x,
            @Nullable NdArray weight,
            @Nullable NdArray bias,
            double eps,
            NdArray out,
            NdArray mean,
            NdArray rstd) {}

    @Override
    public void layerNormGrad(
            NdArray x,
            @Nullable NdArray weight,
            NdArray mean,
            NdArray rstd,
            NdArray dy,
            @Nullable NdArray dx,
            @Nullable NdArray dWeight,
            @Nullable NdArray dBias) {}

    @Override
    public void rmsNorm(NdArray x, @Nullable NdArray weight, double eps, NdArray out, NdArray rstd) {}

    @Override
    public void rmsNormGrad(
            NdArray x,
            @Nullable NdArray weight,
            NdArray rstd,
            NdArray dy,
            @Nullable NdArray dx,
            @Nullable NdArray dWeight) {}

    @Override
    public void gatherRows(NdArray table, NdArray ids, long firstRow, NdArray out) {}

    @Override
    public void scatterAddRows(NdArray dy, NdArray ids, long firstRow, long paddingId, NdArray dTable) {}

    @Override
    public long firstOutside(NdArray ids, long low, long high, long except) {
        return -1;
    }

    @Override
    public void crossEntropy(
            NdArray logits, NdArray labels, long ignoreIndex, double smoothing, NdArray loss, NdArray lse) {}

    @Override
    public void crossEntropyGrad(
            NdArray logits,
            NdArray labels,
            long ignoreIndex,
            double smoothing,
            NdArray lse,
            NdArray dLoss,
            NdArray dLogits) {}

    @Override
    public void uniform(NdArray out, long seed, long stream, Region region, double low, double high) {}

    @Override
    public void normal(NdArray out, long seed, long stream, Region region, double mean, double deviation) {}

    @Override
    public void dropout(NdArray x, double p, long seed, StepNumber stream, Region region, NdArray out) {}

    @Override
    public void sgd(List<ParameterUpdate> updates, double gradScale, double momentum, boolean nesterov) {}

    @Override
    public void adam(
            List<ParameterUpdate> updates,
            double gradScale,
            double beta1,
            double beta2,
            double eps,
            boolean decoupled) {}
}
