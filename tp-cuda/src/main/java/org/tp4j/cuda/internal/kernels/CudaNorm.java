package org.tp4j.cuda.internal.kernels;

import static org.tp4j.cuda.internal.arguments.RowArguments.NORM;
import static org.tp4j.cuda.internal.arguments.RowArguments.NORM_GRAD;
import static org.tp4j.cuda.internal.arguments.RowArguments.NORM_WEIGHT_GRAD;

import org.jspecify.annotations.Nullable;
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
import org.tp4j.tensor.NormKernels;

/** Layer norm and RMS norm on a GPU. */
public final class CudaNorm implements NormKernels {
    private final MemoryPool pool;
    private final ReductionPasses passes;
    private final KernelFamily normalize;
    private final KernelFamily normalizeLong;
    private final KernelFamily grad;
    private final KernelFamily gradLong;
    private final KernelFamily weightGrad;
    private final KernelFamily wideWeightGrad;

    public CudaNorm(Kernels kernels, MemoryPool pool, ReductionPasses passes) {
        this.pool = pool;
        this.passes = passes;
        normalize = new KernelFamily(kernels, "norm", "normalize");
        normalizeLong = new KernelFamily(kernels, "norm", "normalizeLong");
        grad = new KernelFamily(kernels, "norm", "normGrad");
        gradLong = new KernelFamily(kernels, "norm", "normGradLong");
        weightGrad = new KernelFamily(kernels, "norm", "normWeightGrad");
        wideWeightGrad = new KernelFamily(kernels, "norm", "normWideWeightGrad");
    }

    @Override
    public void layerNorm(
            NdArray x,
            @Nullable NdArray weight,
            @Nullable NdArray bias,
            double eps,
            NdArray out,
            NdArray mean,
            NdArray rstd) {
        forward(x, weight, bias, eps, out, mean, rstd);
    }

    @Override
    public void rmsNorm(NdArray x, @Nullable NdArray weight, double eps, NdArray out, NdArray rstd) {
        forward(x, weight, null, eps, out, null, rstd);
    }

    private void forward(
            NdArray x,
            @Nullable NdArray weight,
            @Nullable NdArray bias,
            double eps,
            NdArray out,
            @Nullable NdArray mean,
            NdArray rstd) {
        long n = CudaReduction.rowLength(x.shape());
        RowGrid grid = RowGrid.of(rstd.elements(), n, x);
        (grid.keepsRow() ? normalize : normalizeLong)
                .of(x.dtype())
                .launch(
                        grid.blocks(),
                        grid.threads(),
                        Arguments.of(NORM)
                                .set(NORM.x, x)
                                .set(NORM.weight, weight)
                                .set(NORM.bias, bias)
                                .set(NORM.out, out)
                                .set(NORM.mean, mean)
                                .set(NORM.rstd, rstd)
                                .set(NORM.rows, rstd.elements())
                                .set(NORM.eps, eps)
                                .set(NORM.n, (int) n)
                                .set(NORM.group, grid.group()));
    }

    @Override
    public void layerNormGrad(
            NdArray x,
            @Nullable NdArray weight,
            NdArray mean,
            NdArray rstd,
            NdArray dy,
            @Nullable NdArray dx,
            @Nullable NdArray dWeight,
            @Nullable NdArray dBias) {
        backward(x, weight, mean, rstd, dy, dx, dWeight, dBias);
    }

    @Override
    public void rmsNormGrad(
            NdArray x,
            @Nullable NdArray weight,
            NdArray rstd,
            NdArray dy,
            @Nullable NdArray dx,
            @Nullable NdArray dWeight) {
        backward(x, weight, null, rstd, dy, dx, dWeight, null);
    }

    private void backward(
            NdArray x,
            @Nullable NdArray weight,
            @Nullable NdArray mean,
            NdArray rstd,
            NdArray dy,
            @Nullable NdArray dx,
            @Nullable NdArray dWeight,
            @Nullable NdArray dBias) {
        // First, so that dx may alias dy or x.
        if (dWeight != null || dBias != null) {
            weightGrad(x, mean, rstd, dy, dWeight, dBias);
        }
        if (dx == null) {
            return;
        }
        long n = CudaReduction.rowLength(x.shape());
        RowGrid grid = RowGrid.of(rstd.elements(), n, x);
        (grid.keepsRow() ? grad : gradLong)
                .of(x.dtype())
                .launch(
                        grid.blocks(),
                        grid.threads(),
                        Arguments.of(NORM_GRAD)
                                .set(NORM_GRAD.x, x)
                                .set(NORM_GRAD.weight, weight)
                                .set(NORM_GRAD.mean, mean)
                                .set(NORM_GRAD.rstd, rstd)
                                .set(NORM_GRAD.dy, dy)
                                .set(NORM_GRAD.dx, dx)
                                .set(NORM_GRAD.rows, rstd.elements())
                                .set(NORM_GRAD.n, (int) n)
                                .set(NORM_GRAD.group, grid.group()));
    }

    /** Sums over parts of the rows, then over the parts. */
    private void weightGrad(
            NdArray x,
            @Nullable NdArray mean,
            NdArray rstd,
            NdArray dy,
            @Nullable NdArray dWeight,
            @Nullable NdArray dBias) {
        DType dtype = x.dtype();
        long rows = rstd.elements();
        long n = CudaReduction.rowLength(x.shape());
        if (n == 0) {
            return;
        }
        int pack = 16 / dtype.bytes();
        boolean wide = n % pack == 0 && CudaStorage.addressOf(x) % 16 == 0 && CudaStorage.addressOf(dy) % 16 == 0;
        ColumnGrid grid = ColumnGrid.of(passes.device(), wide ? n / pack : n, rows);
        long bytes = grid.parts() * n * ReductionPasses.stateBytes(dtype);
        int results = (dWeight == null ? 0 : 1) + (dBias == null ? 0 : 1);
        try (Workspace states = new Workspace(pool, results * bytes)) {
            long weights = dWeight == null ? 0 : states.address();
            long biases = dBias == null ? 0 : states.address() + (dWeight == null ? 0 : bytes);
            (wide ? wideWeightGrad : weightGrad)
                    .of(dtype)
                    .launch(
                            grid.blocks(),
                            grid.parts(),
                            ColumnGrid.THREADS,
                            0,
                            Arguments.of(NORM_WEIGHT_GRAD)
                                    .set(NORM_WEIGHT_GRAD.x, x)
                                    .set(NORM_WEIGHT_GRAD.dy, dy)
                                    .set(NORM_WEIGHT_GRAD.mean, mean)
                                    .set(NORM_WEIGHT_GRAD.rstd, rstd)
                                    .set(NORM_WEIGHT_GRAD.weights, weights)
                                    .set(NORM_WEIGHT_GRAD.biases, biases)
                                    .set(NORM_WEIGHT_GRAD.rows, rows)
                                    .set(NORM_WEIGHT_GRAD.part, grid.part())
                                    .set(NORM_WEIGHT_GRAD.n, (int) n)
                                    .set(NORM_WEIGHT_GRAD.width, grid.width()));
            if (dWeight != null) {
                passes.sumStates(dtype, weights, grid.parts(), dWeight);
            }
            if (dBias != null) {
                passes.sumStates(dtype, biases, grid.parts(), dBias);
            }
        }
    }
}
