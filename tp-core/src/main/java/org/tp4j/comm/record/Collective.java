package org.tp4j.comm.record;

import org.tp4j.comm.ProcessGroup;

/** The kinds of call a {@link ProcessGroup} carries out; printed as the name of its method. */
public enum Collective {
    /** {@link ProcessGroup#allReduce}. */
    ALL_REDUCE("allReduce"),
    /** {@link ProcessGroup#allGather}. */
    ALL_GATHER("allGather"),
    /** {@link ProcessGroup#reduceScatter}. */
    REDUCE_SCATTER("reduceScatter"),
    /** {@link ProcessGroup#allToAll}. */
    ALL_TO_ALL("allToAll"),
    /** {@link ProcessGroup#broadcast}. */
    BROADCAST("broadcast"),
    /** {@link ProcessGroup#reduce}. */
    REDUCE("reduce"),
    /** {@link ProcessGroup#send}. */
    SEND("send"),
    /** {@link ProcessGroup#receive}. */
    RECEIVE("receive"),
    /** {@link ProcessGroup#barrier}. */
    BARRIER("barrier"),
    /** {@link ProcessGroup#split}. */
    SPLIT("split");

    private final String method;

    Collective(String method) {
        this.method = method;
    }

    /** Whether two ranks take part, not the whole group. */
    public boolean isPointToPoint() {
        return this == SEND || this == RECEIVE;
    }

    @Override
    public String toString() {
        return method;
    }
}
