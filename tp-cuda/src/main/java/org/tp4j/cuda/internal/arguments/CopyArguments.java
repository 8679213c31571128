package org.tp4j.cuda.internal.arguments;

import java.util.List;

/** The arguments of the kernels in {@code copy.cu} and {@code random.cu}. */
public final class CopyArguments {
    public static final Copy COPY = new Copy();
    public static final Transpose TRANSPOSE = new Transpose();
    public static final Fill FILL = new Fill();
    public static final Where WHERE = new Where();
    public static final Random RANDOM = new Random();

    static final List<ArgumentStruct> OF_COPY = List.of(COPY, TRANSPOSE, FILL, WHERE);
    static final List<ArgumentStruct> OF_RANDOM = List.of(RANDOM);

    private CopyArguments() {}

    /** A strided copy, in the kernel's units. */
    public static final class Copy extends ArgumentStruct {
        public final BoxField box = box("box");
        public final StridesField strides = strides("strides", 2); // of dst, of src
        public final PointerField dst = pointer("void", "dst");
        public final PointerField src = pointer("const void", "src");
        public final LongField n = int64("n");

        Copy() {
            super("CopyArgs");
        }
    }

    /** dst[r dstRow + c] = src[r + c srcColumn] for every matrix of a batch. */
    public static final class Transpose extends ArgumentStruct {
        public final BoxField batch = box("batch");
        public final StridesField strides = strides("strides", 2); // of dst, of src
        public final PointerField dst = pointer("SCALAR", "dst");
        public final PointerField src = pointer("const SCALAR", "src");
        public final LongField dstRow = int64("dstRow");
        public final LongField srcColumn = int64("srcColumn");
        public final LongField tiles = int64("tiles"); // total
        public final DividerField rowTiles = divider("rowTiles");
        public final DividerField columnTiles = divider("columnTiles");
        public final IntField rows = int32("rows");
        public final IntField columns = int32("columns");

        Transpose() {
            super("TransposeArgs");
        }
    }

    /** One value for all elements. */
    public static final class Fill extends ArgumentStruct {
        public final PointerField out = pointer("SCALAR", "out");
        public final LongField n = int64("n");
        public final LongField bits = int64("bits"); // of the value, in the lower bytes

        Fill() {
            super("FillArgs");
        }
    }

    /** out = condition ? left : right, broadcast. */
    public static final class Where extends ArgumentStruct {
        public final BoxField box = box("box");
        public final StridesField strides = strides("strides", 3); // of condition, left, right
        public final PointerField condition = pointer("const bool8", "condition");
        public final PointerField left = pointer("const SCALAR", "left");
        public final PointerField right = pointer("const SCALAR", "right");
        public final PointerField out = pointer("SCALAR", "out");
        public final LongField n = int64("n");

        Where() {
            super("WhereArgs");
        }
    }

    /**
     * The region is rows of {@code length} elements that are contiguous in the global tensor; the box holds the rows, with
     * their strides there.
     */
    public static final class Random extends ArgumentStruct {
        public final BoxField box = box("box");
        public final StridesField strides = strides("strides", 1);
        public final DividerField counters = divider("counters"); // per row
        public final LongField work = int64("work"); // total number of counters
        public final LongField first = int64("first"); // global index of the first element
        public final LongField length = int64("length");
        public final LongField pitch = int64("pitch"); // elements from one row to the next in x and out
        public final LongField seed = int64("seed");
        public final StepNumberField stream = stepNumber("stream");
        public final PointerField x = pointer("const SCALAR", "x"); // dropout only
        public final PointerField out = pointer("SCALAR", "out");
        public final DoubleField low = float64("low"); // or the mean, or the dropout probability
        public final DoubleField width = float64("width"); // or the standard deviation
        public final IntField threshold =
                int32("threshold"); // dropout only: compared with the upper 24 bits of a number

        Random() {
            super("RandomArgs");
        }
    }
}
