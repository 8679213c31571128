package org.tp4j.cuda.internal.arguments;

import java.util.List;

/** The arguments of the kernels in {@code embedding.cu} and {@code ids.cu}. */
public final class EmbeddingArguments {
    public static final GatherRows GATHER_ROWS = new GatherRows();
    public static final GroupIds GROUP_IDS = new GroupIds();
    public static final AddRows ADD_ROWS = new AddRows();
    public static final FirstOutside FIRST_OUTSIDE = new FirstOutside();

    static final List<ArgumentStruct> OF_EMBEDDING = List.of(GATHER_ROWS, GROUP_IDS, ADD_ROWS);
    static final List<ArgumentStruct> OF_IDS = List.of(FIRST_OUTSIDE);

    private EmbeddingArguments() {}

    /** out[i, :] = table[ids[i] - firstRow, :], or zeros. */
    public static final class GatherRows extends ArgumentStruct {
        public final PointerField table = pointer("const SCALAR", "table");
        public final PointerField ids = pointer("const void", "ids");
        public final PointerField out = pointer("SCALAR", "out"); // [count, n]
        public final LongField tableRows = int64("tableRows");
        public final LongField firstRow = int64("firstRow");
        public final LongField count = int64("count");
        public final IntField n = int32("n");
        public final IntField wideIds = int32("wideIds");
        public final IntField group = int32("group");

        GatherRows() {
            super("GatherRowsArgs");
        }
    }

    /** Lists the positions of each row's ids. */
    public static final class GroupIds extends ArgumentStruct {
        public final PointerField ids = pointer("const void", "ids");
        public final LongField count = int64("count");
        public final LongField firstRow = int64("firstRow");
        public final LongField tableRows = int64("tableRows");
        public final LongField padding = int64("padding");
        /** The number of named rows and the length of the list; both 0 before the launch. */
        public final PointerField used = pointer("int", "used");
        /** One per id or per table row, whichever is fewer. */
        public final PointerField named = pointer("Named", "named");

        public final PointerField list = pointer("int", "list"); // one per id
        public final IntField wideIds = int32("wideIds");

        GroupIds() {
            super("GroupIdsArgs");
        }
    }

    /** table[row, :] += dy[i, :] for the listed i of each named row. */
    public static final class AddRows extends ArgumentStruct {
        public final PointerField dy = pointer("const SCALAR", "dy");
        public final PointerField table = pointer("void", "table"); // of SCALAR, or of C if it is wide
        public final PointerField used = pointer("const int", "used");
        public final PointerField named = pointer("const Named", "named");
        public final PointerField list = pointer("const int", "list");
        public final IntField n = int32("n");
        public final IntField wide = int32("wide");

        AddRows() {
            super("AddRowsArgs");
        }
    }

    /** The first id out of range, per block. */
    public static final class FirstOutside extends ArgumentStruct {
        public final PointerField ids = pointer("const SCALAR", "ids");
        public final PointerField first = pointer("int64", "first"); // one per block
        public final LongField count = int64("count");
        public final LongField low = int64("low");
        public final LongField high = int64("high");
        public final LongField except = int64("except");

        FirstOutside() {
            super("FirstOutsideArgs");
        }
    }
}
