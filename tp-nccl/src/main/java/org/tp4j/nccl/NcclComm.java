package org.tp4j.nccl;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * NCCL's {@code ncclComm_t}, one rank's end of a communicator. Made by {@link JNccl#ncclCommInitRank},
 * {@link JNccl#ncclCommInitRankConfig} and {@link JNccl#ncclCommSplit}; ended by {@link JNccl#ncclCommDestroy} (which
 * {@link #close()} calls) or {@link JNccl#ncclCommAbort}, after which every use throws {@link IllegalStateException}.
 *
 * <p>One thread at a time may make calls on it, except for ncclCommAbort and ncclCommGetAsyncError, which another thread,
 * a watchdog's, may call at any time.
 */
public final class NcclComm implements AutoCloseable {
    private static final long LEAVE_NANOS =
            TimeUnit.SECONDS.toNanos(1); // calls of non-blocking communicators are short

    private final long cell;
    private int users;
    private boolean ended;

    NcclComm() {
        cell = NcclNative.newCell();
        if (cell == 0) {
            throw new OutOfMemoryError("no native memory for a communicator's handle");
        }
    }

    /** Whether it has been destroyed or aborted. */
    public synchronized boolean isEnded() {
        return ended;
    }

    /**
     * NCCL's own handle, for other native code; 0 while there is none yet (inside of a group), or if this rank is in no
     * group of a split.
     *
     * @throws IllegalStateException if it has ended
     */
    public synchronized long handle() {
        if (ended) {
            throw new IllegalStateException("a communicator is used that has been destroyed or aborted");
        }
        return NcclNative.handle(cell);
    }

    /** A place for the library to write a handle to. */
    long cell() {
        return cell;
    }

    /** A call begins; must be followed by {@link #leave}. */
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

    /** A call is over. */
    synchronized void leave() {
        users--;
        notifyAll();
    }

    /** The last call begins: no other can any more. False if there has been one, or there is nothing to end. */
    boolean end() {
        synchronized (this) {
            if (ended) {
                return false;
            }
            ended = true;
        }
        // Calls in progress are let out first: NCCL frees what they use. One that blocks is what an abort is for.
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

    /** Nothing came of it: the library has no handle to free. */
    synchronized void discard() {
        ended = true;
        free();
    }

    private synchronized boolean busy() {
        return users > 0;
    }

    /** After the last call. A thread that is still inside of a call keeps the cell's few bytes. */
    void free() {
        if (!busy()) {
            NcclNative.freeCell(cell);
        }
    }

    /** {@link JNccl#ncclCommDestroy}, unless it has ended. */
    @Override
    public void close() {
        if (!isEnded()) {
            JNccl.ncclCommDestroy(this);
        }
    }
}
