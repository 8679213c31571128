package org.tp4j.autograd.internal;

import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.tp4j.op.Operation;
import org.tp4j.op.internal.ArgmaxOp;
import org.tp4j.op.internal.BiasActivationOp;
import org.tp4j.op.internal.BinaryOp;
import org.tp4j.op.internal.CastOp;
import org.tp4j.op.internal.DropoutOp;
import org.tp4j.op.internal.ExpandOp;
import org.tp4j.op.internal.ExtremumOp;
import org.tp4j.op.internal.GatedOp;
import org.tp4j.op.internal.GatherRowsOp;
import org.tp4j.op.internal.LayerNormOp;
import org.tp4j.op.internal.LinearOp;
import org.tp4j.op.internal.MatMulOp;
import org.tp4j.op.internal.MeanOp;
import org.tp4j.op.internal.PadOp;
import org.tp4j.op.internal.PermuteOp;
import org.tp4j.op.internal.ReducedDims;
import org.tp4j.op.internal.ReshapeOp;
import org.tp4j.op.internal.RmsNormOp;
import org.tp4j.op.internal.SliceOp;
import org.tp4j.op.internal.SoftmaxOp;
import org.tp4j.op.internal.SumOp;
import org.tp4j.op.internal.UnaryOp;
import org.tp4j.op.internal.WhereOp;
import org.tp4j.tensor.Activation;
import org.tp4j.tensor.BinaryFunction;
import org.tp4j.tensor.CrossEntropyOptions;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.StepNumber;
import org.tp4j.tensor.Tensor;
import org.tp4j.tensor.UnaryFunction;

/** The methods of {@link Tensor} that are operations: each names the operation for {@link Dispatch}. */
abstract class FluentTensor implements Tensor {
    private Tensor run(Operation operation) {
        return Dispatch.run(operation, this);
    }

    private Tensor run(Operation operation, Tensor other) {
        return Dispatch.run(operation, this, other);
    }

    private Tensor unary(UnaryFunction function) {
        return run(UnaryOp.of(function));
    }

    private Tensor binary(BinaryFunction function, Tensor other) {
        return run(new BinaryOp(function), other);
    }

    @Override
    public Tensor add(Tensor other) {
        return binary(BinaryFunction.ADD, other);
    }

    @Override
    public Tensor sub(Tensor other) {
        return binary(BinaryFunction.SUB, other);
    }

    @Override
    public Tensor mul(Tensor other) {
        return binary(BinaryFunction.MUL, other);
    }

    @Override
    public Tensor div(Tensor other) {
        return binary(BinaryFunction.DIV, other);
    }

    @Override
    public Tensor add(double number) {
        return run(new UnaryOp(UnaryFunction.SHIFT, Numbers.exact("add", dtype(), number), 0));
    }

    @Override
    public Tensor sub(double number) {
        return add(-number);
    }

    @Override
    public Tensor mul(double number) {
        return run(new UnaryOp(UnaryFunction.SCALE, Numbers.exact("mul", dtype(), number), 0));
    }

    @Override
    public Tensor div(double number) {
        Numbers.requireFloating("div", dtype(), number);
        return mul(1 / number);
    }

    @Override
    public Tensor neg() {
        return unary(UnaryFunction.NEG);
    }

    @Override
    public Tensor maximum(Tensor other) {
        return binary(BinaryFunction.MAXIMUM, other);
    }

    @Override
    public Tensor minimum(Tensor other) {
        return binary(BinaryFunction.MINIMUM, other);
    }

    @Override
    public Tensor matmul(Tensor other) {
        return run(new MatMulOp(false, false), other);
    }

    @Override
    public Tensor matmul(Tensor other, boolean transposeThis, boolean transposeOther) {
        return run(new MatMulOp(transposeThis, transposeOther), other);
    }

    @Override
    public Tensor linear(Tensor weight, @Nullable Tensor bias) {
        Tensor product = run(new LinearOp(), weight);
        return bias == null ? product : product.add(bias);
    }

    @Override
    public Tensor exp() {
        return unary(UnaryFunction.EXP);
    }

    @Override
    public Tensor log() {
        return unary(UnaryFunction.LOG);
    }

    @Override
    public Tensor sqrt() {
        return unary(UnaryFunction.SQRT);
    }

    @Override
    public Tensor square() {
        return unary(UnaryFunction.SQUARE);
    }

    @Override
    public Tensor rsqrt() {
        return unary(UnaryFunction.RSQRT);
    }

    @Override
    public Tensor reciprocal() {
        return unary(UnaryFunction.RECIPROCAL);
    }

    @Override
    public Tensor pow(double exponent) {
        return run(new UnaryOp(UnaryFunction.POW, exponent, 0));
    }

    @Override
    public Tensor abs() {
        return unary(UnaryFunction.ABS);
    }

    @Override
    public Tensor relu() {
        return unary(UnaryFunction.RELU);
    }

    @Override
    public Tensor gelu() {
        return unary(UnaryFunction.GELU);
    }

    @Override
    public Tensor geluTanh() {
        return unary(UnaryFunction.GELU_TANH);
    }

    @Override
    public Tensor silu() {
        return unary(UnaryFunction.SILU);
    }

    @Override
    public Tensor sigmoid() {
        return unary(UnaryFunction.SIGMOID);
    }

    @Override
    public Tensor tanh() {
        return unary(UnaryFunction.TANH);
    }

    @Override
    public Tensor clamp(double low, double high) {
        return run(new UnaryOp(
                UnaryFunction.CLAMP, Numbers.bound("clamp", dtype(), low), Numbers.bound("clamp", dtype(), high)));
    }

    @Override
    public Tensor biasActivation(Tensor bias, Activation activation) {
        return run(new BiasActivationOp(activation), bias);
    }

    @Override
    public Tensor gated(Tensor up, Activation activation) {
        return run(new GatedOp(activation), up);
    }

    @Override
    public Tensor dropout(double p, long seed, StepNumber stream) {
        return run(new DropoutOp(p, seed, stream));
    }

    @Override
    public Tensor sum() {
        return run(new SumOp(ReducedDims.of(shape(), false)));
    }

    @Override
    public Tensor sum(boolean keepDims, int... dims) {
        return run(new SumOp(ReducedDims.of(shape(), keepDims, dims)));
    }

    @Override
    public Tensor mean() {
        return mean(false);
    }

    @Override
    public Tensor mean(boolean keepDims, int... dims) {
        ReducedDims reduced = ReducedDims.of(shape(), keepDims, dims);
        return run(new MeanOp(reduced, reduced.count(shape())));
    }

    @Override
    public Tensor variance(boolean unbiased, boolean keepDims, int... dims) {
        ReducedDims reduced = ReducedDims.of(shape(), keepDims, dims);
        int[] sorted = reduced.dims().stream().mapToInt(Integer::intValue).toArray();
        Layouts.requireUncut(this, "variance", sorted);
        if (dtype().isHalf()) { // in 32 bits throughout, rounded once
            return cast(dtype().accumulator())
                    .variance(unbiased, keepDims, dims)
                    .cast(dtype());
        }
        Tensor difference = sub(mean(true, sorted));
        long n = reduced.count(shape()) - (unbiased ? 1 : 0);
        return Dispatch.run(new SumOp(reduced), difference.square()).mul(1.0 / n);
    }

    @Override
    public Tensor norm(double p, boolean keepDims, int... dims) {
        return Norms.norm(this, p, ReducedDims.of(shape(), keepDims, dims));
    }

    @Override
    public Tensor max(boolean keepDims, int... dims) {
        return run(new ExtremumOp(true, ReducedDims.of(shape(), keepDims, dims)));
    }

    @Override
    public Tensor min(boolean keepDims, int... dims) {
        return run(new ExtremumOp(false, ReducedDims.of(shape(), keepDims, dims)));
    }

    @Override
    public Tensor argmax(int dim) {
        return Dispatch.run(new ArgmaxOp(), toLast(dim));
    }

    /** This with {@code dim} moved to the end. */
    private Tensor toLast(int dim) {
        int at = shape().normalize(dim);
        int last = shape().dims() - 1;
        return permute(IntStream.rangeClosed(0, last)
                .map(d -> d < at ? d : d == last ? at : d + 1)
                .toArray());
    }

    @Override
    public Tensor softmax(int dim) {
        return rowwise(new SoftmaxOp(false), dim);
    }

    @Override
    public Tensor logSoftmax(int dim) {
        return rowwise(new SoftmaxOp(true), dim);
    }

    /** An operation on the last dimension applied to another: swapped to the end and back. */
    private Tensor rowwise(Operation operation, int dim) {
        int last = shape().dims() - 1;
        if (shape().normalize(dim) == last) {
            return run(operation);
        }
        return Dispatch.run(operation, transpose(dim, last)).transpose(dim, last);
    }

    @Override
    public Tensor reshape(long... sizes) {
        long[] to = sizes.clone();
        int free = -1;
        long known = 1;
        for (int d = 0; d < to.length; d++) {
            if (to[d] == -1 && free < 0) {
                free = d;
            } else {
                known *= to[d];
            }
        }
        if (free >= 0) {
            if (known <= 0 || shape().elements() % known != 0) {
                throw new IllegalArgumentException("cannot reshape " + shape() + " (" + shape().elements()
                        + " elements) to " + Arrays.toString(sizes) + ": -1 does not come out as a whole number");
            }
            to[free] = shape().elements() / known;
        }
        Shape shape = Shape.of(to);
        return shape.equals(shape()) ? this : run(new ReshapeOp(shape));
    }

    @Override
    public Tensor transpose(int dim0, int dim1) {
        int[] order = IntStream.range(0, shape().dims()).toArray();
        int a = shape().normalize(dim0);
        int b = shape().normalize(dim1);
        order[a] = b;
        order[b] = a;
        return permute(order);
    }

    @Override
    public Tensor squeeze(int dim) {
        int at = shape().normalize(dim);
        if (size(at) != 1) {
            throw new IllegalArgumentException("squeeze of dimension " + dim + " of " + shape() + ", which has size "
                    + size(at) + "; HINT: only a dimension of size 1 can be left out");
        }
        return reshape(shape().without(at).toArray());
    }

    @Override
    public Tensor unsqueeze(int dim) {
        int dims = shape().dims();
        int at = dim < 0 ? dim + dims + 1 : dim;
        if (at < 0 || at > dims) {
            throw new IllegalArgumentException("unsqueeze before dimension " + dim + " of " + shape() + "; HINT: from "
                    + (-dims - 1) + " to " + dims);
        }
        long[] sizes = new long[dims + 1];
        for (int d = 0; d <= dims; d++) {
            sizes[d] = d == at ? 1 : shape().size(d < at ? d : d - 1);
        }
        return reshape(sizes);
    }

    @Override
    public Tensor flatten(int from, int to) {
        int first = shape().normalize(from);
        int last = shape().normalize(to);
        if (first > last) {
            throw new IllegalArgumentException("flatten of dimensions " + from + " to " + to + " of " + shape()
                    + "; HINT: the first comes before the last");
        }
        long[] sizes = new long[shape().dims() - (last - first)];
        for (int d = 0; d < sizes.length; d++) {
            sizes[d] = d < first ? shape().size(d) : shape().size(d + last - first);
        }
        sizes[first] = shape().product(first, last + 1);
        return reshape(sizes);
    }

    @Override
    public Tensor permute(int... order) {
        List<Integer> list = Arrays.stream(order)
                .map(d -> d < 0 ? d + order.length : d)
                .boxed()
                .toList();
        boolean same = list.size() == shape().dims();
        for (int d = 0; d < order.length; d++) {
            same &= list.get(d) == d;
        }
        return same ? this : run(new PermuteOp(list));
    }

    @Override
    public Tensor slice(int dim, long from, long to) {
        return run(new SliceOp(shape().normalize(dim), from, to));
    }

    @Override
    public Tensor[] split(int dim, long... sizes) {
        if (Arrays.stream(sizes).sum() != size(dim)) {
            throw new IllegalArgumentException("split of dimension " + dim + " of " + shape() + " into "
                    + Arrays.toString(sizes) + ": the sizes must add up to " + size(dim));
        }
        Tensor[] pieces = new Tensor[sizes.length];
        long at = 0;
        for (int i = 0; i < sizes.length; i++) {
            pieces[i] = slice(dim, at, at + sizes[i]);
            at += sizes[i];
        }
        return pieces;
    }

    @Override
    public Tensor expand(long... sizes) {
        Shape to = Shape.of(sizes);
        return to.equals(shape()) ? this : run(ExpandOp.leading(shape(), to));
    }

    @Override
    public Tensor pad(int dim, long before, long after, double value) {
        return run(new PadOp(shape().normalize(dim), before, after, Numbers.exact("pad", dtype(), value)));
    }

    @Override
    public Tensor where(Tensor condition, Tensor other) {
        return Dispatch.run(new WhereOp(), condition, this, other);
    }

    @Override
    public Tensor maskedFill(Tensor mask, double value) {
        if (value != 0) {
            Layouts.requireNotPending(this, "masked_fill with " + value);
        }
        shape().broadcast(mask.shape());
        return Dispatch.run(
                new WhereOp(), mask, EagerTensor.number(this, Numbers.exact("masked_fill", dtype(), value)), this);
    }

    @Override
    public Tensor gatherRows(Tensor ids) {
        return run(new GatherRowsOp(GatherRowsOp.NO_PADDING), ids);
    }

    @Override
    public Tensor gatherRows(Tensor ids, long paddingId) {
        long rows = size(0);
        if (paddingId < -rows || paddingId >= rows) {
            throw new IllegalArgumentException("padding id " + paddingId + " is outside a table of " + rows + " rows");
        }
        return run(new GatherRowsOp(paddingId < 0 ? paddingId + rows : paddingId), ids);
    }

    @Override
    public Tensor eq(Tensor other) {
        return binary(BinaryFunction.EQ, other);
    }

    @Override
    public Tensor ne(Tensor other) {
        return binary(BinaryFunction.NE, other);
    }

    @Override
    public Tensor lt(Tensor other) {
        return binary(BinaryFunction.LT, other);
    }

    @Override
    public Tensor le(Tensor other) {
        return binary(BinaryFunction.LE, other);
    }

    @Override
    public Tensor gt(Tensor other) {
        return binary(BinaryFunction.GT, other);
    }

    @Override
    public Tensor ge(Tensor other) {
        return binary(BinaryFunction.GE, other);
    }

    @Override
    public Tensor not() {
        return unary(UnaryFunction.NOT);
    }

    @Override
    public Tensor cast(DType to) {
        return to == dtype() ? this : run(new CastOp(to));
    }

    @Override
    public Tensor layerNorm(@Nullable Tensor weight, @Nullable Tensor bias, double eps) {
        if (weight == null || bias == null) {
            Tensor normed = run(new LayerNormOp(eps, false));
            Tensor scaled = weight == null ? normed : normed.mul(weight);
            return bias == null ? scaled : scaled.add(bias);
        }
        return Dispatch.run(new LayerNormOp(eps, true), this, weight, bias);
    }

    @Override
    public Tensor rmsNorm(@Nullable Tensor weight, double eps) {
        return weight == null ? run(new RmsNormOp(eps, false)) : run(new RmsNormOp(eps, true), weight);
    }

    @Override
    public Tensor crossEntropy(Tensor labels) {
        return crossEntropy(labels, CrossEntropyOptions.DEFAULT);
    }

    @Override
    public Tensor crossEntropy(Tensor labels, CrossEntropyOptions options) {
        return Losses.crossEntropy(this, labels, options);
    }
}
