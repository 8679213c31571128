package org.tp4j.nccl;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * NCCL's {@code ncclComm_t}: a communicator as one rank sees it. Created by {@link JNccl#ncclCommInitRank},
 * {@link JNccl#ncclCommInitRankConfig} and {@link JNccl#ncclCommSplit}; ended by {@link JNccl#ncclCommDestroy} (which
 * {@link #close()} calls) or {@link JNccl#ncclCommAbort}, after which every use throws {@link IllegalStateException}.
 *
 * <p>One thread at a time may make calls on it, except for ncclCommAbort and ncclCommGetAsyncError, which any thread may
 * call at any time.
 */
public final class NcclComm implements AutoCloseable {
    private static final long LEAVE_NANOS =
            TimeUnit.SECONDS.toNanos(1); // calls on non-blocking communicators are short

    private final long cell;
    private int users;
    private boolean ended;

    NcclComm() {
        cell = NcclNative.newCell();
        if (cell == 0) {
            throw new OutOfMemoryError("out of native memory for a communicator's handle");
        }
    }

    /** Whether it has been destroyed or aborted. */
    public synchronized boolean isEnded() {
        return ended;
    }

    /**
     * NCCL's own handle, for other native code; 0 if there is none yet (inside a group), or if a split left this rank out.
     *
     * @throws IllegalStateException if it has been destroyed or aborted
     */
    public synchronized long handle() {
        if (ended) {
            throw new IllegalStateException("the communicator has been destroyed or aborted; HINT: create another one");
        }
        return NcclNative.handle(cell);
    }

    /** Address of the native cell that the library writes the handle to. */
    long cell() {
        return cell;
    }

    /** Begins a call, which must end with {@link #leave}. */
    synchronized long enter(String call) {
        if (ended) {
            throw new IllegalStateException(call + " on a communicator that has been destroyed or aborted");
        }
        if (NcclNative.handle(cell) == 0) {
            throw new IllegalStateException(call + " on a communicator that does not exist: its init is part of a group"
                    + " that has not ended, or a split left this rank out; HINT: call ncclGroupEnd first");
        }
        users++;
        return cell;
    }

    /** Ends a call. */
    synchronized void leave() {
        users--;
        notifyAll();
    }

    /** Refuses further calls; false if that has been done before, or if there is no communicator to end. */
    boolean end() {
        synchronized (this) {
            if (ended) {
                return false;
            }
            ended = true;
        }
        // Calls in progress may finish first, since NCCL frees what they use. One that blocks is what an abort is for.
        long deadline = System.nanoTime() + LEAVE_NANOS;
        while (busy() && System.nanoTime() < deadline) {
            LockSupport.parkNanos(100_000);
        }
        if (NcclNative.handle(cell) == 0) {
            free();
            return false;
        }
        return true;
    }

    /** Creating it failed: there is no handle to free. */
    synchronized void discard() {
        ended = true;
        free();
    }

    private synchronized boolean busy() {
        return users > 0;
    }

    /** Frees the cell after the last call; it is leaked, a few bytes, if a thread is still inside a call. */
    void free() {
        if (!busy()) {
            NcclNative.freeCell(cell);
        }
    }

    /** {@link JNccl#ncclCommDestroy}. Idempotent. */
    @Override
    public void close() {
        if (!isEnded()) {
            JNccl.ncclCommDestroy(this);
        }
    }
}
