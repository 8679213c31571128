package org.tp4j.comm.record;

import org.tp4j.comm.ProcessGroup;

/**
 * The kinds of call on a {@link ProcessGroup}, printed as the name of the method. A constant carries what records, logs
 * and engines need to know of its kind.
 */
public enum Collective {
    /** {@link ProcessGroup#allReduce}. */
    ALL_REDUCE("allReduce", Agreement.SHAPE, Writers.ALL_RANKS, ""),
    /** {@link ProcessGroup#allGather}. */
    ALL_GATHER("allGather", Agreement.COUNTS, Writers.ALL_RANKS, ""),
    /** {@link ProcessGroup#reduceScatter}. */
    REDUCE_SCATTER("reduceScatter", Agreement.COUNTS, Writers.ALL_RANKS, ""),
    /** {@link ProcessGroup#allToAll}. */
    ALL_TO_ALL("allToAll", Agreement.PAIRWISE_COUNTS, Writers.ALL_RANKS, ""),
    /** {@link ProcessGroup#broadcast}. */
    BROADCAST("broadcast", Agreement.SHAPE, Writers.ALL_BUT_ROOT, "root"),
    /** {@link ProcessGroup#reduce}. */
    REDUCE("reduce", Agreement.SHAPE, Writers.ROOT, "root"),
    /** {@link ProcessGroup#send}. */
    SEND("send", Agreement.ELEMENTS, Writers.NONE, "to rank"),
    /** {@link ProcessGroup#receive}. */
    RECEIVE("receive", Agreement.ELEMENTS, Writers.ALL_RANKS, "from rank"),
    /** {@link ProcessGroup#barrier}. */
    BARRIER("barrier", Agreement.KIND, Writers.NONE, ""),
    /** {@link ProcessGroup#split}. */
    SPLIT("split", Agreement.KIND, Writers.NONE, "");

    /** What else the ranks' calls must have in common, besides kind, element type, reduction and root. */
    enum Agreement {
        /** Nothing. */
        KIND,
        /** The shape: all ranks contribute equally much. */
        SHAPE,
        /** The list of counts. */
        COUNTS,
        /** What one rank sends another is what that one expects from it. */
        PAIRWISE_COUNTS,
        /** The number of elements, between the two ranks of a message. */
        ELEMENTS
    }

    /** The ranks on which the output array is written. */
    private enum Writers {
        NONE,
        ALL_RANKS,
        ROOT,
        ALL_BUT_ROOT
    }

    private final String method;
    private final Agreement agreement;
    private final Writers writers;
    private final String rootLabel;

    /** A kind; {@code rootLabel} is what messages call its root or peer, empty if it has none. */
    Collective(String method, Agreement agreement, Writers writers, String rootLabel) {
        this.method = method;
        this.agreement = agreement;
        this.writers = writers;
        this.rootLabel = rootLabel;
    }

    Agreement agreement() {
        return agreement;
    }

    String rootLabel() {
        return rootLabel;
    }

    /** Whether rank {@code rank} of the group writes its output array in a call with this root. */
    boolean writesOutput(int rank, int root) {
        return switch (writers) {
            case NONE -> false;
            case ALL_RANKS -> true;
            case ROOT -> rank == root;
            case ALL_BUT_ROOT -> rank != root;
        };
    }

    /** Whether two ranks take part rather than the whole group. */
    public boolean isPointToPoint() {
        return agreement == Agreement.ELEMENTS;
    }

    @Override
    public String toString() {
        return method;
    }
}
