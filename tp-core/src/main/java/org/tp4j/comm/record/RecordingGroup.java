package org.tp4j.comm.record;

import java.util.function.Supplier;
import org.tp4j.comm.ProcessGroup;
import org.tp4j.comm.Work;

/** Writes every call on a group, and on the groups split from it, into a {@link CommunicationLog}. */
public final class RecordingGroup extends DecoratedGroup {
    private final CommunicationLog log;

    /** Records the calls made on {@code inner} through this group. */
    public RecordingGroup(ProcessGroup inner, CommunicationLog log) {
        super(inner);
        this.log = log;
    }

    /** The log written to. */
    public CommunicationLog log() {
        return log;
    }

    @Override
    Work around(CollectiveCall call, Supplier<Work> proceed) {
        if (call.kind() != Collective.SPLIT) {
            log.add(CommunicationLog.Entry.of(this, call));
        }
        return proceed.get();
    }

    @Override
    ProcessGroup decorate(ProcessGroup split) {
        return new RecordingGroup(split, log);
    }
}
