package org.tp4j.cuda.internal.arguments;

import java.util.List;

/** The arguments of the kernels in {@code softmax.cu}, {@code norm.cu} and {@code reduce.cu}. */
public final class RowArguments {
    public static final Softmax SOFTMAX = new Softmax();
    public static final SoftmaxGrad SOFTMAX_GRAD = new SoftmaxGrad();
    public static final CrossEntropy CROSS_ENTROPY = new CrossEntropy();
    public static final CrossEntropyGrad CROSS_ENTROPY_GRAD = new CrossEntropyGrad();
    public static final Norm NORM = new Norm();
    public static final NormGrad NORM_GRAD = new NormGrad();
    public static final NormWeightGrad NORM_WEIGHT_GRAD = new NormWeightGrad();
    public static final ReduceRows REDUCE_ROWS = new ReduceRows();
    public static final ReduceColumns REDUCE_COLUMNS = new ReduceColumns();
    public static final Argmax ARGMAX = new Argmax();

    static final List<ArgumentStruct> OF_SOFTMAX = List.of(SOFTMAX, SOFTMAX_GRAD, CROSS_ENTROPY, CROSS_ENTROPY_GRAD);
    static final List<ArgumentStruct> OF_NORM = List.of(NORM, NORM_GRAD, NORM_WEIGHT_GRAD);
    static final List<ArgumentStruct> OF_REDUCE = List.of(REDUCE_ROWS, REDUCE_COLUMNS, ARGMAX);

    private RowArguments() {}

    /** Softmax or log-softmax. */
    public static final class Softmax extends ArgumentStruct {
        public final PointerField x = pointer("const SCALAR", "x");
        public final PointerField out = pointer("SCALAR", "out");
        public final LongField rows = int64("rows");
        public final IntField n = int32("n");
        public final IntField logarithm = int32("logarithm");
        public final IntField group = int32("group");

        Softmax() {
            super("SoftmaxArgs");
        }
    }

    /** The gradient of softmax or log-softmax. */
    public static final class SoftmaxGrad extends ArgumentStruct {
        public final PointerField y = pointer("const SCALAR", "y");
        public final PointerField dy = pointer("const SCALAR", "dy");
        public final PointerField dx = pointer("SCALAR", "dx");
        public final LongField rows = int64("rows");
        public final IntField n = int32("n");
        public final IntField logarithm = int32("logarithm");
        public final IntField group = int32("group");

        SoftmaxGrad() {
            super("SoftmaxGradArgs");
        }
    }

    /** Cross entropy. */
    public static final class CrossEntropy extends ArgumentStruct {
        public final PointerField logits = pointer("const SCALAR", "logits");
        public final PointerField labels = pointer("const void", "labels");
        public final PointerField loss = pointer("C", "loss");
        public final PointerField top = pointer("C", "top"); // m, the row's maximum
        public final PointerField sum = pointer("C", "sum"); // of e^(z - m)
        public final LongField rows = int64("rows");
        public final LongField ignored = int64("ignored");
        public final DoubleField smoothing = float64("smoothing");
        public final DoubleField zLoss = float64("zLoss");
        public final IntField n = int32("n");
        public final IntField wideLabels = int32("wideLabels");
        public final IntField group = int32("group");

        CrossEntropy() {
            super("CrossEntropyArgs");
        }
    }

    /** The gradient of cross entropy. */
    public static final class CrossEntropyGrad extends ArgumentStruct {
        public final PointerField logits = pointer("const SCALAR", "logits");
        public final PointerField labels = pointer("const void", "labels");
        public final PointerField top = pointer("const C", "top");
        public final PointerField sum = pointer("const C", "sum");
        public final PointerField dLoss = pointer("const C", "dLoss");
        public final PointerField dLogits = pointer("SCALAR", "dLogits");
        public final LongField rows = int64("rows");
        public final LongField ignored = int64("ignored");
        public final DoubleField smoothing = float64("smoothing");
        public final DoubleField zLoss = float64("zLoss");
        public final IntField n = int32("n");
        public final IntField wideLabels = int32("wideLabels");
        public final IntField group = int32("group");

        CrossEntropyGrad() {
            super("CrossEntropyGradArgs");
        }
    }

    /** Layer norm or, without a mean, RMS norm. */
    public static final class Norm extends ArgumentStruct {
        public final PointerField x = pointer("const SCALAR", "x");
        public final PointerField weight = pointer("const SCALAR", "weight"); // or null
        public final PointerField bias = pointer("const SCALAR", "bias"); // or null
        public final PointerField out = pointer("SCALAR", "out");
        public final PointerField mean = pointer("C", "mean"); // null for RMS norm
        public final PointerField rstd = pointer("C", "rstd");
        public final LongField rows = int64("rows");
        public final DoubleField eps = float64("eps");
        public final IntField n = int32("n");
        public final IntField group = int32("group");

        Norm() {
            super("NormArgs");
        }
    }

    /** The gradient of a norm's input. */
    public static final class NormGrad extends ArgumentStruct {
        public final PointerField x = pointer("const SCALAR", "x");
        public final PointerField weight = pointer("const SCALAR", "weight"); // or null
        public final PointerField mean = pointer("const C", "mean"); // null for RMS norm
        public final PointerField rstd = pointer("const C", "rstd");
        public final PointerField dy = pointer("const SCALAR", "dy");
        public final PointerField dx = pointer("SCALAR", "dx");
        public final LongField rows = int64("rows");
        public final IntField n = int32("n");
        public final IntField group = int32("group");

        NormGrad() {
            super("NormGradArgs");
        }
    }

    /** The gradients of a norm's weight and bias, as states. */
    public static final class NormWeightGrad extends ArgumentStruct {
        public final PointerField x = pointer("const SCALAR", "x");
        public final PointerField dy = pointer("const SCALAR", "dy");
        public final PointerField mean = pointer("const C", "mean"); // null for RMS norm
        public final PointerField rstd = pointer("const C", "rstd");
        public final PointerField weights = pointer("Sum<C>", "weights"); // [parts, n], or null
        public final PointerField biases = pointer("Sum<C>", "biases"); // [parts, n], or null
        public final LongField rows = int64("rows");
        public final LongField part = int64("part"); // rows per block; the last may have fewer
        public final IntField n = int32("n");
        /** Adjacent threads, a power of two; the block's other threads take other rows of the same columns. */
        public final IntField width = int32("width");

        NormWeightGrad() {
            super("NormWeightGradArgs");
        }
    }

    /** A reduction of rows. */
    public static final class ReduceRows extends ArgumentStruct {
        public final PointerField x = pointer("const SCALAR", "x");
        public final PointerField out = pointer("void", "out"); // [parts, rows]
        public final LongField rows = int64("rows");
        public final LongField n = int64("n");
        public final IntField part = int32("part"); // elements of a row per group, a multiple of a pack
        public final IntField parts = int32("parts");
        public final IntField kind = int32("kind"); // a Kind
        public final IntField as = int32("as"); // a ResultForm
        public final IntField group = int32("group");

        ReduceRows() {
            super("ReduceRowsArgs");
        }
    }

    /** A reduction of columns. */
    public static final class ReduceColumns extends ArgumentStruct {
        public final PointerField x = pointer("const void", "x"); // [outer, m, inner], elements or states
        public final PointerField out = pointer("void", "out"); // [parts, outer, inner]
        public final LongField outer = int64("outer");
        public final LongField m = int64("m");
        public final LongField inner = int64("inner");
        public final LongField part = int64("part"); // how many of the m per block; the last may have fewer
        /** Adjacent threads, a power of two; the block's other threads take other rows of the same columns. */
        public final IntField width = int32("width");

        public final IntField kind = int32("kind"); // a Kind
        public final IntField as = int32("as"); // a ResultForm

        ReduceColumns() {
            super("ReduceColumnsArgs");
        }
    }

    /** The position of each row's maximum. */
    public static final class Argmax extends ArgumentStruct {
        public final PointerField x = pointer("const SCALAR", "x");
        public final PointerField out = pointer("int64", "out");
        public final LongField rows = int64("rows");
        public final IntField n = int32("n");
        public final IntField group = int32("group");

        Argmax() {
            super("ArgmaxArgs");
        }
    }
}
