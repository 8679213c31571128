package org.tp4j.nccl.internal;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.tp4j.comm.record.CallRecord;
import org.tp4j.nccl.NcclUniqueId;

/** The communicators of a session, which are aborted when the session fails. */
final class Communicators {
    private final NcclContext context;
    private final List<Communicator> all = new CopyOnWriteArrayList<>();

    Communicators(NcclContext context) {
        this.context = context;
        context.onFailure(() -> all.forEach(Communicator::abort));
    }

    /**
     * Joins a new communicator; returns when all ranks have.
     *
     * @param what what is joined, for messages
     * @param worldRanks its members, in order
     * @param rank this rank's position among them
     */
    Communicator join(String what, List<Integer> worldRanks, int rank, NcclUniqueId id) {
        return joined(Communicator.create(context, worldRanks, rank, id), what);
    }

    /** The part of {@code communicator} with the given color and members; every rank of it calls this. */
    Communicator split(Communicator communicator, CallRecord record, int color, int key, List<Integer> members) {
        return joined(communicator.split(record, color, key, members), record.toString());
    }

    private Communicator joined(Communicator created, String what) {
        all.add(created);
        try {
            created.awaitJoined(what);
            return created;
        } catch (RuntimeException e) {
            all.remove(created);
            created.abort();
            throw e;
        }
    }

    /** The communicators that have not been left. */
    List<Communicator> all() {
        return all;
    }

    /** Leaves a communicator whose work is done. */
    void leave(Communicator communicator) {
        all.remove(communicator);
        communicator.leave();
    }

    /** Leaves all communicators. */
    void leaveAll() {
        all.forEach(this::leave);
    }
}
