package org.tp4j.threads;

import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.tp4j.comm.Work;
import org.tp4j.comm.record.CallRecord;
import org.tp4j.cpu.internal.memory.HostStorage;
import org.tp4j.tensor.NdArray;

/** What one party brings to a {@link SharedCall}: its call and its arrays. For the caller, the work to wait for. */
final class ThreadWork implements Work {
    private final Exchange exchange;
    private final SharedCall meeting;
    private final int slot;
    private final int rank;
    private final CallRecord record;
    private final @Nullable HostStorage in;
    private final @Nullable HostStorage out;
    final @Nullable Object inArray;
    final @Nullable Object outArray;
    final int inAt;
    final int outAt;

    /** What a split asks for; set before it is brought to the meeting. */
    @Nullable NamedSplit split;

    /** What a split has got. */
    @Nullable Exchange formed;

    private volatile @Nullable Thread waiter;

    ThreadWork(
            Exchange exchange,
            SharedCall meeting,
            int slot,
            int rank,
            CallRecord record,
            @Nullable NdArray in,
            @Nullable NdArray out) {
        this.exchange = exchange;
        this.meeting = meeting;
        this.slot = slot;
        this.rank = rank;
        this.record = record;
        this.in = storage(in);
        this.out = storage(out);
        this.inArray = this.in == null ? null : this.in.array();
        this.outArray = this.out == null ? null : this.out.array();
        this.inAt = in == null ? 0 : (int) in.offset();
        this.outAt = out == null ? 0 : (int) out.offset();
    }

    private static @Nullable HostStorage storage(@Nullable NdArray array) {
        if (array == null) {
            return null;
        }
        if (array.storage() instanceof HostStorage host) {
            return host;
        }
        throw new IllegalArgumentException("ranks that are threads exchange arrays of the CPU, this one is on "
                + array.backend().device());
    }

    Exchange exchange() {
        return exchange;
    }

    int slot() {
        return slot;
    }

    /** Rank in the group. */
    int rank() {
        return rank;
    }

    CallRecord record() {
        return record;
    }

    /** Guards against memory that went back to the pool before its work was awaited. */
    void checkLive() {
        if ((in != null && in.isReleased()) || (out != null && out.isReleased())) {
            throw new IllegalStateException("rank " + rank + " has freed an array of " + record
                    + " before awaiting it; HINT: await the work inside the scope that owns its arrays");
        }
    }

    void arrive() {
        meeting.arrive(this);
    }

    @Override
    public boolean isDone() {
        if (meeting.state() == SharedCall.READY) {
            meeting.help();
        }
        return meeting.state() >= SharedCall.DONE;
    }

    @Override
    public void await() {
        int state = meeting.state();
        while (state < SharedCall.DONE) {
            if (state == SharedCall.READY) {
                meeting.help();
            }
            state = exchange.waitWhile(state, meeting, this);
        }
        if (state == SharedCall.FAILED) {
            record.failed();
            throw meeting.exception();
        }
        record.done();
    }

    void setWaiter(@Nullable Thread thread) {
        waiter = thread;
    }

    void wake() {
        Thread thread = waiter;
        if (thread != null) {
            LockSupport.unpark(thread);
        }
    }
}
