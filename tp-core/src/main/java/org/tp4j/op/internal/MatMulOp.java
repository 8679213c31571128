package org.tp4j.op.internal;

import org.jspecify.annotations.Nullable;
import org.tp4j.op.BackwardContext;
import org.tp4j.op.ForwardContext;
import org.tp4j.op.LabelRule;
import org.tp4j.op.Operation;
import org.tp4j.op.ShardingRule;
import org.tp4j.op.TensorSpec;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.Tensor;

/**
 * Matrix product of the last two dimensions, batched over the others, which broadcast.
 *
 * @param transposeA whether the first operand is stored transposed
 * @param transposeB whether the second is
 */
public record MatMulOp(boolean transposeA, boolean transposeB) implements Operation {
    @Override
    public String name() {
        return "matmul";
    }

    @Override
    public DType termType(DType result, @Nullable DType requested) {
        return Matrices.termType(result, requested);
    }

    private static Shape batch(Shape shape) {
        return shape.without(-1).without(-1);
    }

    @Override
    public TensorSpec infer(TensorSpec... in) {
        Matrices.checkFloating(name(), in[0], in[1]);
        Shape a = in[0].shape();
        Shape b = in[1].shape();
        if (a.dims() < 2 || b.dims() < 2) {
            throw new IllegalArgumentException("matmul of " + a + " and " + b
                    + ": both need two dimensions at least; HINT: reshape a vector to a matrix of one row or column");
        }
        if (a.size(transposeA ? -2 : -1) != b.size(transposeB ? -1 : -2)) {
            throw new IllegalArgumentException("matmul of " + a + (transposeA ? " transposed" : "") + " and " + b
                    + (transposeB ? " transposed" : "") + ": the inner sizes " + a.size(transposeA ? -2 : -1) + " and "
                    + b.size(transposeB ? -1 : -2) + " differ");
        }
        Shape batch = batch(a).broadcast(batch(b));
        long[] sizes = java.util.Arrays.copyOf(batch.toArray(), batch.dims() + 2);
        sizes[batch.dims()] = a.size(transposeA ? -1 : -2);
        sizes[batch.dims() + 1] = b.size(transposeB ? -2 : -1);
        return new TensorSpec(in[0].dtype(), Shape.of(sizes));
    }

    @Override
    public ShardingRule rule(TensorSpec[] in, TensorSpec[] out) {
        int batch = out[0].dims() - 2;
        int m = batch;
        int n = batch + 1;
        int k = batch + 2;
        return LabelRule.of(in)
                .input(0, labels(in[0], batch, transposeA ? k : m, transposeA ? m : k))
                .input(1, labels(in[1], batch, transposeB ? n : k, transposeB ? k : n))
                .output(LabelRule.ascending(0, batch + 2))
                .linearIn(0, 1)
                .noSlicing()
                .build();
    }

    private static int[] labels(TensorSpec spec, int batch, int row, int column) {
        int own = spec.dims() - 2;
        int[] labels = java.util.Arrays.copyOf(LabelRule.ascending(batch - own, own), own + 2);
        labels[own] = row;
        labels[own + 1] = column;
        return labels;
    }

    @Override
    public NdArray forward(ForwardContext context, NdArray... in) {
        NdArray out = context.allocate(0);
        Shape batch = batch(out.shape());
        NdArray a = in[0];
        NdArray b = in[1];
        int m = Matrices.size(out.shape().size(-2));
        int n = Matrices.size(out.shape().size(-1));
        int k = Matrices.size(a.shape().size(transposeA ? -2 : -1));
        int count = Matrices.size(batch.elements());
        if (!transposeA && batch(b.shape()).elements() == 1 && batch(a.shape()).elements() == count) {
            out.backend()
                    .gemm()
                    .gemm( // the batch is just more rows
                            false, transposeB, Matrices.size((long) count * m), n, k, 1, a, 0, b, 0, 0, out, 0, 1);
            return out;
        }
        a = spread(a, batch);
        b = spread(b, batch);
        long strideA = batch(a.shape()).elements() == 1 ? 0 : (long) m * k;
        long strideB = batch(b.shape()).elements() == 1 ? 0 : (long) k * n;
        out.backend()
                .gemm()
                .gemm(transposeA, transposeB, m, n, k, 1, a, strideA, b, strideB, 0, out, (long) m * n, count);
        return out;
    }

    /** The operand itself if it has the whole batch or one matrix, otherwise expanded to the batch. */
    private static NdArray spread(NdArray array, Shape batch) {
        Shape own = batch(array.shape());
        if (own.elements() == 1 || own.elements() == batch.elements()) {
            return array;
        }
        Shape shape = array.shape();
        long[] sizes = java.util.Arrays.copyOf(batch.toArray(), batch.dims() + 2);
        sizes[batch.dims()] = shape.size(-2);
        sizes[batch.dims() + 1] = shape.size(-1);
        Shape to = Shape.of(sizes);
        long[] strides = shape.strides();
        long[] from = new long[to.dims()];
        int extra = to.dims() - shape.dims();
        for (int d = 0; d < shape.dims(); d++) {
            from[d + extra] = shape.size(d) == 1 ? 0 : strides[d];
        }
        NdArray out = NdArray.allocate(array.backend(), array.dtype(), to);
        if (to.elements() > 0) {
            out.backend().elementwise().copy(array, 0, from, out, 0, to.strides(), sizes);
        }
        return out;
    }

    @Override
    public void backward(BackwardContext c, Tensor g) {
        Tensor a = c.input(0);
        Tensor b = c.input(1);
        if (c.wants(0)) {
            Tensor da = transposeA ? b.matmul(g, transposeB, true) : g.matmul(b, false, !transposeB);
            c.give(0, Broadcasting.sumTo(c, da, 0));
        }
        if (c.wants(1)) {
            second(c, a, b, g);
        }
    }

    private void second(BackwardContext c, Tensor a, Tensor b, Tensor g) {
        if (!transposeA && b.shape().dims() == 2) { // sums over the batch within the product
            LinearOp.WeightGradient gradient = new LinearOp.WeightGradient(c.gradientType(1));
            c.give(1, gradient, transposeB ? g : a, transposeB ? a : g);
        } else {
            Tensor db = transposeB ? g.matmul(a, true, transposeA) : a.matmul(g, !transposeA, false);
            c.give(1, Broadcasting.sumTo(c, db, 1));
        }
    }
}
