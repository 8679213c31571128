package org.tp4j.comm.record;

import java.util.List;
import java.util.function.Supplier;
import org.tp4j.comm.CommunicationException;
import org.tp4j.comm.ProcessGroup;
import org.tp4j.comm.Work;
import org.tp4j.comm.internal.agreement.Ledger;

/** A group that does something around each call on another group, and on the groups split from it. */
abstract class DecoratedGroup extends AbstractProcessGroup {
    private final ProcessGroup inner;

    DecoratedGroup(ProcessGroup inner) {
        this.inner = inner;
    }

    /** Makes a call with valid arguments; {@code proceed} makes it on the inner group. */
    abstract Work around(CollectiveCall call, Supplier<Work> proceed);

    /** Runs before a call that the inner group is about to refuse for its arguments. */
    void beforeRefusal(Collective kind, CommunicationException reason) {}

    /** Decorates a group split from this one. */
    abstract ProcessGroup decorate(ProcessGroup split);

    @Override
    public final Ledger ledger() {
        return inner instanceof AbstractProcessGroup group ? group.ledger() : new Ledger(rank());
    }

    /** The decorated group. */
    final ProcessGroup inner() {
        return inner;
    }

    @Override
    protected final Work invoke(Invocation invocation) {
        CollectiveCall call;
        try {
            call = invocation.checked().get();
        } catch (CommunicationException e) {
            beforeRefusal(invocation.kind(), e);
            return invocation.repeat().apply(inner); // throws the same, and may have to tell other ranks
        }
        return around(call, () -> invocation.repeat().apply(inner));
    }

    @Override
    public final String name() {
        return inner.name();
    }

    @Override
    public final int rank() {
        return inner.rank();
    }

    @Override
    public final int size() {
        return inner.size();
    }

    @Override
    public final List<Integer> worldRanks() {
        return inner.worldRanks();
    }

    @Override
    public final ProcessGroup split(String name, int color, int key) {
        return aroundSplit(() -> inner.split(name, color, key));
    }

    @Override
    public final ProcessGroup partition(String name, List<List<Integer>> groups) {
        return aroundSplit(() -> inner.partition(name, groups));
    }

    private ProcessGroup aroundSplit(Supplier<ProcessGroup> split) {
        ProcessGroup[] result = new ProcessGroup[1];
        around(CollectiveCall.withoutData(Collective.SPLIT), () -> {
            result[0] = split.get();
            return Work.done();
        });
        return decorate(result[0]);
    }

    @Override
    public final void close() {
        inner.close();
    }
}
