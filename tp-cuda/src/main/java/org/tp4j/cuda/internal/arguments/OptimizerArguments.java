package org.tp4j.cuda.internal.arguments;

import java.util.List;

/** The arguments of the kernels in {@code optimizer.cu}. */
public final class OptimizerArguments {
    /** The maximum number of parameters per launch of an optimizer step. */
    public static final int MAX_SLOTS = 40;

    public static final Slot SLOT = new Slot();
    public static final Step STEP = new Step();

    static final List<ArgumentStruct> OF_OPTIMIZER = List.of(SLOT, STEP);

    private OptimizerArguments() {}

    /** One parameter. Fields the optimizer does not use are not read. */
    public static final class Slot extends ArgumentStruct {
        public final PointerField parameter = pointer("SCALAR", "parameter");
        public final PointerField master = pointer("C", "master"); // null if there is none
        public final PointerField gradient = pointer("const void", "gradient"); // of the launch's gradient type
        public final PointerField first = pointer("C", "first"); // m, or the momentum buffer, which may be null
        public final PointerField second = pointer("C", "second"); // v
        public final LongField n = int64("n");
        public final StepNumberField count = stepNumber("count"); // the 1-based step number of this parameter
        public final StepNumberField rate = stepNumber("rate"); // learning rate, a double
        public final DoubleField weightDecay = float64("weightDecay");
        /** The block that starts at this parameter's first element. */
        public final LongField firstChunk = int64("firstChunk");

        Slot() {
            super("Slot");
        }
    }

    /** A step of up to {@link #MAX_SLOTS} parameters. */
    public static final class Step extends ArgumentStruct {
        public final DoubleField gradScale = float64("gradScale");
        public final DoubleField beta1 = float64("beta1"); // or the momentum
        public final DoubleField beta2 = float64("beta2");
        public final DoubleField eps = float64("eps");
        public final LongField chunk = int64("chunk"); // elements per block, a multiple of all packs
        public final IntField gradientType = int32("gradientType"); // a DType
        public final IntField decoupled = int32("decoupled"); // or nesterov
        public final IntField slots = int32("slots");
        public final ArrayField<Slot> slot = array("slot", SLOT, MAX_SLOTS);

        Step() {
            super("OptimizerArgs");
        }
    }
}
