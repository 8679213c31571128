package org.tp4j.tensor;

/** The gradients of {@link BinaryFunction}s, what they keep, and where the functions are linear. */
enum BinaryGradient {
    /** Of a + b. */
    SUM {
        @Override
        void backward(Tensor g, ElementwiseBackward c) {
            c.give(0, g);
            c.give(1, g);
        }
    },
    /** Of a - b. */
    DIFFERENCE {
        @Override
        void backward(Tensor g, ElementwiseBackward c) {
            c.give(0, g);
            if (c.wants(1)) {
                c.give(1, g.neg());
            }
        }
    },
    /** Of a · b. */
    PRODUCT {
        @Override
        void backward(Tensor g, ElementwiseBackward c) {
            if (c.wants(0)) {
                c.give(0, g.mul(c.input(1)));
            }
            if (c.wants(1)) {
                c.give(1, g.mul(c.input(0)));
            }
        }
    },
    /** Of a / b. */
    QUOTIENT {
        @Override
        void backward(Tensor g, ElementwiseBackward c) {
            Tensor quotient = g.div(c.input(1));
            if (c.wants(1)) {
                c.give(1, quotient.mul(c.output()).neg()); // d(a/b)/db = -(a/b)/b
            }
            c.give(0, quotient);
        }
    },
    /** Of max(a, b); half for each at a tie. */
    MAXIMUM {
        @Override
        void backward(Tensor g, ElementwiseBackward c) {
            share(g, c, c.input(0).gt(c.input(1)), c.input(0).lt(c.input(1)));
        }
    },
    /** Of min(a, b); half for each at a tie. */
    MINIMUM {
        @Override
        void backward(Tensor g, ElementwiseBackward c) {
            share(g, c, c.input(0).lt(c.input(1)), c.input(0).gt(c.input(1)));
        }
    },
    /** None: the result is a truth value. */
    TRUTH,
    /** None: the function is the product of a slope, made from a, with a gradient b. */
    SLOPE;

    private static void share(Tensor g, ElementwiseBackward c, Tensor first, Tensor second) {
        Tensor half = c.input(0).eq(c.input(1)).cast(g.dtype()).mul(0.5);
        c.give(0, g.mul(first.cast(g.dtype()).add(half)));
        c.give(1, g.mul(second.cast(g.dtype()).add(half)));
    }

    boolean isDifferentiable() {
        return this != TRUTH && this != SLOPE;
    }

    /** A quotient of integers is truncated, and so not linear. */
    boolean isLinearIn(int i, DType type) {
        return switch (this) {
            case SUM, DIFFERENCE, PRODUCT -> true;
            case QUOTIENT -> i == 0 && type.isFloating();
            case SLOPE -> i == 1;
            case MAXIMUM, MINIMUM, TRUTH -> false;
        };
    }

    boolean isAdditive() {
        return this == SUM || this == DIFFERENCE;
    }

    boolean keepsInput(int i) {
        return switch (this) {
            case PRODUCT, MAXIMUM, MINIMUM -> true;
            case QUOTIENT -> i == 1;
            case SUM, DIFFERENCE, TRUTH, SLOPE -> false;
        };
    }

    boolean keepsOutput() {
        return this == QUOTIENT;
    }

    void backward(Tensor g, ElementwiseBackward context) {
        throw new UnsupportedOperationException(this + " has no gradient");
    }
}
