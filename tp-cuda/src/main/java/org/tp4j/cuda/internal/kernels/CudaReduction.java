package org.tp4j.cuda.internal.kernels;

import static org.tp4j.cuda.internal.arguments.RowArguments.ARGMAX;
import static org.tp4j.cuda.internal.arguments.RowArguments.SOFTMAX;
import static org.tp4j.cuda.internal.arguments.RowArguments.SOFTMAX_GRAD;

import org.tp4j.cuda.internal.launch.Arguments;
import org.tp4j.cuda.internal.launch.KernelFamily;
import org.tp4j.cuda.internal.launch.Kernels;
import org.tp4j.cuda.internal.launch.RowGrid;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.ReductionKernels;
import org.tp4j.tensor.Shape;

/** Reductions, arg-max and softmax on a GPU. */
public final class CudaReduction implements ReductionKernels {
    private final ReductionPasses passes;
    private final KernelFamily argmax;
    private final KernelFamily softmax;
    private final KernelFamily softmaxLong;
    private final KernelFamily softmaxGrad;
    private final KernelFamily softmaxGradLong;

    public CudaReduction(Kernels kernels, ReductionPasses passes) {
        this.passes = passes;
        argmax = new KernelFamily(kernels, "reduce", "argmax");
        softmax = new KernelFamily(kernels, "softmax", "softmax");
        softmaxLong = new KernelFamily(kernels, "softmax", "softmaxLong");
        softmaxGrad = new KernelFamily(kernels, "softmax", "softmaxGrad");
        softmaxGradLong = new KernelFamily(kernels, "softmax", "softmaxGradLong");
    }

    @Override
    public void reduce(Kind kind, NdArray x, boolean[] reduced, NdArray out) {
        passes.reduce(kind, x, reduced, out);
    }

    /** Size of the last dimension; a scalar counts as a row of one. */
    static long rowLength(Shape shape) {
        return shape.dims() == 0 ? 1 : shape.size(-1);
    }

    @Override
    public void argmax(NdArray x, NdArray out) {
        long n = rowLength(x.shape());
        long rows = out.elements();
        DType dtype = x.dtype();
        RowGrid grid = RowGrid.ofLoop(rows, n, x);
        argmax.of(dtype)
                .launch(
                        grid.blocks(),
                        grid.threads(),
                        Arguments.of(ARGMAX)
                                .set(ARGMAX.x, x)
                                .set(ARGMAX.out, out)
                                .set(ARGMAX.rows, rows)
                                .set(ARGMAX.n, (int) n)
                                .set(ARGMAX.group, grid.group()));
    }

    @Override
    public void softmax(NdArray x, boolean logarithm, NdArray out) {
        if (x.elements() == 0) {
            return;
        }
        long n = rowLength(x.shape());
        long rows = x.elements() / n;
        DType dtype = x.dtype();
        RowGrid grid = RowGrid.of(rows, n, x);
        (grid.keepsRow() ? softmax : softmaxLong)
                .of(dtype)
                .launch(
                        grid.blocks(),
                        grid.threads(),
                        Arguments.of(SOFTMAX)
                                .set(SOFTMAX.x, x)
                                .set(SOFTMAX.out, out)
                                .set(SOFTMAX.rows, rows)
                                .set(SOFTMAX.n, (int) n)
                                .set(SOFTMAX.logarithm, logarithm)
                                .set(SOFTMAX.group, grid.group()));
    }

    @Override
    public void softmaxGrad(NdArray y, NdArray dy, boolean logarithm, NdArray dx) {
        if (y.elements() == 0) {
            return;
        }
        long n = rowLength(y.shape());
        long rows = y.elements() / n;
        DType dtype = y.dtype();
        RowGrid grid = RowGrid.of(rows, n, y);
        (grid.keepsRow() ? softmaxGrad : softmaxGradLong)
                .of(dtype)
                .launch(
                        grid.blocks(),
                        grid.threads(),
                        Arguments.of(SOFTMAX_GRAD)
                                .set(SOFTMAX_GRAD.y, y)
                                .set(SOFTMAX_GRAD.dy, dy)
                                .set(SOFTMAX_GRAD.dx, dx)
                                .set(SOFTMAX_GRAD.rows, rows)
                                .set(SOFTMAX_GRAD.n, (int) n)
                                .set(SOFTMAX_GRAD.logarithm, logarithm)
                                .set(SOFTMAX_GRAD.group, grid.group()));
    }
}
