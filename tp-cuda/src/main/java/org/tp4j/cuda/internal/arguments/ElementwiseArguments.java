package org.tp4j.cuda.internal.arguments;

import java.util.List;

/**
 * What the kernels of {@code unary.cu}, {@code binary.cu}, {@code broadcast.cu}, {@code cast.cu}, {@code order.cu} and {@code
 * fused.cu} take.
 */
public final class ElementwiseArguments {
    public static final Unary UNARY = new Unary();
    public static final Binary BINARY = new Binary();
    public static final AddScaled ADD_SCALED = new AddScaled();
    public static final Broadcast BROADCAST = new Broadcast();
    public static final Cast CAST = new Cast();
    public static final Biased BIASED = new Biased();
    public static final Gated GATED = new Gated();

    public static final Order ORDER = new Order();

    static final List<ArgumentStruct> OF_ORDER = List.of(ORDER);
    static final List<ArgumentStruct> OF_UNARY = List.of(UNARY);
    static final List<ArgumentStruct> OF_BINARY = List.of(BINARY, ADD_SCALED);
    static final List<ArgumentStruct> OF_BROADCAST = List.of(BROADCAST);
    static final List<ArgumentStruct> OF_CAST = List.of(CAST);
    static final List<ArgumentStruct> OF_FUSED = List.of(BIASED, GATED);

    private ElementwiseArguments() {}

    /** out = f(x; a, b). */
    public static final class Unary extends ArgumentStruct {
        public final PointerField x = pointer("const SCALAR", "x");
        public final PointerField out = pointer("SCALAR", "out");
        public final LongField n = int64("n");
        public final IntField function = int32("function"); // a UnaryFunction
        public final FactorsField factors = factors("factors");

        Unary() {
            super("UnaryArgs");
        }
    }

    /** out = f(left, right); an operand has out's size or is one number. */
    public static final class Binary extends ArgumentStruct {
        public final PointerField left = pointer("const SCALAR", "left");
        public final PointerField right = pointer("const SCALAR", "right");
        public final PointerField out = pointer("SCALAR", "out");
        public final LongField n = int64("n");
        public final LongField leftStep = int64("leftStep"); // 0 for a single number, else 1
        public final LongField rightStep = int64("rightStep");
        public final IntField function = int32("function"); // a BinaryFunction

        Binary() {
            super("BinaryArgs");
        }
    }

    /** y += a x. */
    public static final class AddScaled extends ArgumentStruct {
        public final PointerField x = pointer("const SCALAR", "x");
        public final PointerField y = pointer("SCALAR", "y");
        public final LongField n = int64("n");
        public final FactorsField factors = factors("factors");

        AddScaled() {
            super("AddScaledArgs");
        }
    }

    /** out = f(left, right), operands broadcast. */
    public static final class Broadcast extends ArgumentStruct {
        public final BoxField box = box("box");
        public final StridesField strides = strides("strides", 2); // of left, of right
        public final PointerField left = pointer("const SCALAR", "left");
        public final PointerField right = pointer("const SCALAR", "right");
        public final PointerField out = pointer("void", "out"); // numbers, or truth values
        public final LongField n = int64("n");
        public final IntField function = int32("function"); // a BinaryFunction

        Broadcast() {
            super("BroadcastArgs");
        }
    }

    /** Floats and the integers that order the same way. */
    public static final class Order extends ArgumentStruct {
        public final PointerField x = pointer("SCALAR", "x");
        public final PointerField bits = pointer("void", "bits"); // as wide as what SCALAR is computed in
        public final LongField n = int64("n");
        public final IntField nanIsLowest = int32("nanIsLowest"); // otherwise the highest

        Order() {
            super("OrderArgs");
        }
    }

    /** out = x in another type. */
    public static final class Cast extends ArgumentStruct {
        public final PointerField x = pointer("const SCALAR", "x");
        public final PointerField out = pointer("void", "out");
        public final LongField n = int64("n");
        public final IntField type = int32("type"); // of out, a DType

        Cast() {
            super("CastArgs");
        }
    }

    /** x consists of rows of {@code columns} elements; fewer than 2^31 elements in total. */
    public static final class Biased extends ArgumentStruct {
        public final PointerField x = pointer("const SCALAR", "x");
        public final PointerField bias = pointer("const SCALAR", "bias");
        public final PointerField dy = pointer("const SCALAR", "dy"); // gradient only
        public final PointerField out = pointer("SCALAR", "out");
        public final LongField n = int64("n");
        public final DividerField columns = divider("columns");
        public final IntField activation = int32("activation"); // an Activation

        Biased() {
            super("BiasedArgs");
        }
    }

    /** out = activation(gate) up, or its gradients. */
    public static final class Gated extends ArgumentStruct {
        public final PointerField gate = pointer("const SCALAR", "gate");
        public final PointerField up = pointer("const SCALAR", "up");
        public final PointerField dy = pointer("const SCALAR", "dy"); // gradient only
        public final PointerField out = pointer("SCALAR", "out"); // dGate in the gradient kernel
        public final PointerField dUp = pointer("SCALAR", "dUp"); // gradient only
        public final LongField n = int64("n");
        public final IntField activation = int32("activation"); // an Activation

        Gated() {
            super("GatedArgs");
        }
    }
}
