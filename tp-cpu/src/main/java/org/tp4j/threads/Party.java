package org.tp4j.threads;

import java.util.Objects;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.tp4j.comm.record.CallRecord;
import org.tp4j.cpu.internal.memory.HostStorage;
import org.tp4j.tensor.NdArray;

/** One rank's side of a shared call: its record, the arrays it contributes, and the thread that waits. */
class Party {
    private final int slot;
    private final int rank;
    private final CallRecord record;
    private final @Nullable HostStorage in;
    private final @Nullable HostStorage out;
    private final @Nullable Object inArray;
    private final @Nullable Object outArray;
    private final int inOffset;
    private final int outOffset;
    private volatile @Nullable Thread waiter;

    /**
     * A party.
     *
     * @param slot its index among the parties of the call
     * @param rank its rank in the group
     * @param in what is read; null if nothing
     * @param out what is written; null if nothing
     */
    Party(int slot, int rank, CallRecord record, @Nullable NdArray in, @Nullable NdArray out) {
        this.slot = slot;
        this.rank = rank;
        this.record = record;
        this.in = storage(in);
        this.out = storage(out);
        this.inArray = this.in == null ? null : this.in.array();
        this.outArray = this.out == null ? null : this.out.array();
        this.inOffset = in == null ? 0 : (int) in.offset();
        this.outOffset = out == null ? 0 : (int) out.offset();
    }

    private static @Nullable HostStorage storage(@Nullable NdArray array) {
        if (array == null) {
            return null;
        }
        if (array.storage() instanceof HostStorage host) {
            return host;
        }
        throw new IllegalArgumentException("ranks that are threads exchange arrays on the CPU, but this one is on "
                + array.backend().device());
    }

    final int slot() {
        return slot;
    }

    final int rank() {
        return rank;
    }

    final CallRecord record() {
        return record;
    }

    /** The Java array that holds the input. */
    final Object inArray() {
        return Objects.requireNonNull(inArray);
    }

    /** The Java array that holds the output. */
    final Object outArray() {
        return Objects.requireNonNull(outArray);
    }

    /** Index of the input's first element in {@link #inArray()}. */
    final int inOffset() {
        return inOffset;
    }

    /** Index of the output's first element in {@link #outArray()}. */
    final int outOffset() {
        return outOffset;
    }

    /** Guards against memory that was returned to the pool before its work was awaited. */
    final void checkLive() {
        if ((in != null && in.isReleased()) || (out != null && out.isReleased())) {
            throw new IllegalStateException("rank " + rank + " has freed an array of " + record
                    + " before awaiting it; HINT: await the work inside the scope that owns its arrays");
        }
    }

    final void setWaiter(@Nullable Thread thread) {
        waiter = thread;
    }

    final void wake() {
        Thread thread = waiter;
        if (thread != null) {
            LockSupport.unpark(thread);
        }
    }
}
