package org.tp4j.comm.record;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.Supplier;
import org.tp4j.comm.CommunicationException;
import org.tp4j.comm.GroupNumbers;
import org.tp4j.comm.ProcessGroup;
import org.tp4j.comm.Work;
import org.tp4j.tensor.Backend;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.ExecutionContext;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Scope;
import org.tp4j.tensor.Shape;

/**
 * Checking mode: before the data of a call moves, the ranks compare their calls. If they differ, all ranks throw, naming
 * both calls and where in the program each was made.
 *
 * <p>It costs one more blocking collective of 512 bytes per rank before each call. A point-to-point message is checked by
 * the receiver alone, when it awaits the message.
 */
public final class CheckingGroup extends DecoratedGroup {
    private final Backend backend;
    private final Deque<SentRecord> sent = new ArrayDeque<>();
    private long calls;

    /** The record of a send that has not been received yet: its memory must live until then. */
    private record SentRecord(Work work, NdArray array) {}

    /** Checks the calls made on {@code inner} through this group; records travel in memory of {@code backend}. */
    public CheckingGroup(ProcessGroup inner, Backend backend) {
        super(inner);
        this.backend = backend;
    }

    @Override
    Work around(CollectiveCall call, Supplier<Work> proceed) {
        SignatureRecord mine = SignatureRecord.of(call, describe(call));
        if (call.kind() == Collective.SEND) {
            sendAhead(mine, call.root());
            return proceed.get();
        }
        if (call.kind() == Collective.RECEIVE) {
            NdArray record =
                    Scope.outside(() -> NdArray.allocate(backend, DType.INT64, Shape.of(SignatureRecord.LONGS)));
            Work ahead = inner().receive(record, call.root());
            return new CheckedReceive(ahead, record, proceed.get(), mine, call.root());
        }
        SignatureRecord[] all = exchange(mine);
        compare(all);
        if (call.kind().agreement() == Collective.Agreement.PAIRWISE_COUNTS) {
            compareCounts(call, all);
        }
        return proceed.get();
    }

    @Override
    void beforeRefusal(Collective kind, CommunicationException reason) {
        if (!kind.isPointToPoint()) {
            exchange(new SignatureRecord(0, true, String.valueOf(reason.getMessage())));
        }
    }

    @Override
    ProcessGroup decorate(ProcessGroup split) {
        return new CheckingGroup(split, backend);
    }

    private static String describe(CollectiveCall call) {
        String path = ExecutionContext.current().modulePath();
        return call + (path.isEmpty() ? "" : " in " + path) + " at " + CallSite.find();
    }

    @SuppressWarnings("try") // a scope that only owns
    private SignatureRecord[] exchange(SignatureRecord mine) {
        calls++;
        try (Scope scope = Scope.open("signatures")) {
            return SignatureRecord.read(GroupNumbers.allGather(inner(), mine.toArray(backend)));
        }
    }

    private void compare(SignatureRecord[] all) {
        for (int rank = 0; rank < all.length; rank++) {
            if (all[rank].refused()) {
                throw new CommunicationException("call " + calls + " on group '" + name()
                        + "' was given up because rank " + rank + " gave invalid arguments: " + all[rank].text());
            }
        }
        for (int rank = 1; rank < all.length; rank++) {
            if (all[rank].hash() != all[0].hash()) {
                throw disagreement(all, 0, rank);
            }
        }
    }

    private CommunicationException disagreement(SignatureRecord[] all, int first, int second) {
        return new CommunicationException(
                "ranks of group '" + name() + "' disagree on call " + calls + ": rank " + first
                        + " calls " + all[first].text() + ", rank " + second + " calls " + all[second].text()
                        + "; HINT: all ranks of a group make the same calls in the same order, with the same type, shape, counts,"
                        + " root and reduction");
    }

    /** What each rank sends another must be what that one expects; all ranks learn of the first pair that differs. */
    private void compareCounts(CollectiveCall call, SignatureRecord[] all) {
        long[] announced = GroupNumbers.allToAll(inner(), backend, call.sendCounts());
        long different = -1;
        for (int rank = 0; rank < announced.length && different < 0; rank++) {
            different = announced[rank] == call.receiveCounts()[rank] ? -1 : rank;
        }
        long[] verdicts = GroupNumbers.allGather(inner(), backend, different);
        for (int rank = 0; rank < verdicts.length; rank++) {
            if (verdicts[rank] >= 0) {
                int other = (int) verdicts[rank];
                throw disagreement(all, Math.min(rank, other), Math.max(rank, other));
            }
        }
    }

    private void sendAhead(SignatureRecord record, int peer) {
        while (!sent.isEmpty() && sent.peekFirst().work().isDone()) {
            sent.removeFirst();
        }
        NdArray array = Scope.outside(() -> record.toArray(backend));
        sent.addLast(new SentRecord(inner().send(array, peer), array));
    }

    /** A receive whose signature is compared with the sender's before the data is handed out. */
    private final class CheckedReceive implements Work {
        private final Work ahead;
        private final NdArray record;
        private final Work data;
        private final SignatureRecord mine;
        private final int peer;

        CheckedReceive(Work ahead, NdArray record, Work data, SignatureRecord mine, int peer) {
            this.ahead = ahead;
            this.record = record;
            this.data = data;
            this.mine = mine;
            this.peer = peer;
        }

        @Override
        public boolean isDone() {
            return ahead.isDone() && data.isDone();
        }

        @Override
        public void await() {
            ahead.await();
            SignatureRecord theirs = SignatureRecord.read(record)[0];
            if (theirs.hash() != mine.hash()) {
                throw new CommunicationException("ranks of group '" + name() + "' disagree on a message: rank " + peer
                        + " calls " + theirs.text() + ", rank " + rank() + " calls " + mine.text()
                        + "; HINT: a send and its receive need the same type and number of elements");
            }
            data.await();
        }
    }
}
