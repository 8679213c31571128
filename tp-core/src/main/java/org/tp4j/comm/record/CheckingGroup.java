package org.tp4j.comm.record;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.Objects;
import java.util.function.Supplier;
import org.tp4j.comm.CommunicationException;
import org.tp4j.comm.ProcessGroup;
import org.tp4j.comm.Work;
import org.tp4j.tensor.Backend;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.ExecutionContext;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Scope;
import org.tp4j.tensor.Shape;

/**
 * Checking mode: before the data of a call moves, the ranks compare what each of them asks, and where they disagree all
 * of them throw, naming both sides and where in the program each was.
 *
 * <p>It costs one more collective of 512 bytes a rank before each call, which waits. A receiver alone checks a
 * point-to-point message, when it awaits it.
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
        switch (call.kind()) {
            case SEND -> {
                sendAhead(mine, call.root());
                return proceed.get();
            }
            case RECEIVE -> {
                NdArray record =
                        Scope.outside(() -> NdArray.allocate(backend, DType.INT64, Shape.of(SignatureRecord.LONGS)));
                Work ahead = inner().receive(record, call.root());
                return new CheckedReceive(ahead, record, proceed.get(), mine, call.root());
            }
            default -> {
                SignatureRecord[] all = exchange(mine);
                compare(all);
                if (call.kind() == Collective.ALL_TO_ALL) {
                    compareCounts(call, all);
                }
                return proceed.get();
            }
        }
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

    private String describe(CollectiveCall call) {
        String path = ExecutionContext.current().modulePath();
        return call + (path.isEmpty() ? "" : " in " + path) + " at " + CallSite.find();
    }

    @SuppressWarnings("try") // a scope is opened for what it owns
    private SignatureRecord[] exchange(SignatureRecord mine) {
        calls++;
        long[] counts = new long[size()];
        Arrays.fill(counts, SignatureRecord.LONGS);
        try (Scope scope = Scope.open("signatures")) {
            NdArray all = NdArray.allocate(backend, DType.INT64, Shape.of((long) size() * SignatureRecord.LONGS));
            inner().allGather(mine.toArray(backend), all, counts).await();
            return SignatureRecord.read(all);
        }
    }

    private void compare(SignatureRecord[] all) {
        for (int rank = 0; rank < all.length; rank++) {
            if (all[rank].refused()) {
                throw new CommunicationException("call " + calls + " on group '" + name() + "' is off: on rank " + rank
                        + " " + all[rank].text());
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
                        + " asks " + all[first].text() + ", rank " + second + " asks " + all[second].text()
                        + "; HINT: all ranks of a group make the same calls in the same order, with the same type, shape,"
                        + " counts, root and reduction");
    }

    /** What each rank sends every other must be what that one expects; all learn of the first pair that differs. */
    @SuppressWarnings("try") // a scope is opened for what it owns
    private void compareCounts(CollectiveCall call, SignatureRecord[] all) {
        long[] expected = Objects.requireNonNull(call.receiveCounts());
        long[] ones = new long[size()];
        Arrays.fill(ones, 1);
        try (Scope scope = Scope.open("counts")) {
            NdArray announced = NdArray.allocate(backend, DType.INT64, Shape.of(size()));
            NdArray mine = longs(Objects.requireNonNull(call.sendCounts()));
            inner().allToAll(mine, ones, announced, ones).await();
            long[] theirs = read(announced);
            long odd = -1;
            for (int rank = 0; rank < theirs.length && odd < 0; rank++) {
                odd = theirs[rank] == expected[rank] ? -1 : rank;
            }
            NdArray verdicts = NdArray.allocate(backend, DType.INT64, Shape.of(size()));
            inner().allGather(longs(new long[] {odd}), verdicts, ones).await();
            long[] verdict = read(verdicts);
            for (int rank = 0; rank < verdict.length; rank++) {
                if (verdict[rank] >= 0) {
                    int other = (int) verdict[rank];
                    throw disagreement(all, Math.min(rank, other), Math.max(rank, other));
                }
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

    private NdArray longs(long[] values) {
        ByteBuffer buffer = ByteBuffer.allocate(values.length * Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        buffer.asLongBuffer().put(values);
        NdArray array = NdArray.allocate(backend, DType.INT64, Shape.of(values.length));
        backend.copyIn(buffer, array);
        return array;
    }

    private static long[] read(NdArray array) {
        ByteBuffer buffer =
                ByteBuffer.allocate((int) array.elements() * Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        array.backend().copyOut(array, buffer);
        buffer.rewind();
        long[] values = new long[(int) array.elements()];
        buffer.asLongBuffer().get(values);
        return values;
    }

    /** A message whose record has to be compared first. */
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
                        + " asks " + theirs.text() + ", rank " + rank() + " asks " + mine.text());
            }
            data.await();
        }
    }
}
