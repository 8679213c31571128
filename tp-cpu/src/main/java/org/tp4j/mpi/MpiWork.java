package org.tp4j.mpi;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.tp4j.comm.CommunicationException;
import org.tp4j.comm.Work;
import org.tp4j.comm.record.CallRecord;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Shape;

/**
 * A call under way over MPI: phases of messages, with copying and reducing in between.
 *
 * <p>Every phase but the first starts when this process is next in {@link MpiJob#await}, for whichever call, since MPI
 * makes no progress on its own. Runs longer than {@code step} elements are done in slices, one after the other, so that
 * native memory stays bounded and no message exceeds MPI's int counts.
 *
 * <p>Guarded by the job's lock.
 */
abstract class MpiWork implements MpiJob.Call, Work {
    /** Bytes of native memory that one slice of a call may take. */
    static final long SLICE_BYTES = 1L << 28;

    final MpiComm comm;
    private final MpiJob job;
    private final CallRecord record;
    private final long sequence;
    private final long end;
    private final long step;
    private final List<NativeBuffer> held = new ArrayList<>();
    private long from;
    private int phase;
    private @Nullable MessageBatch messages;
    private volatile boolean done;
    private @Nullable CommunicationException failure; // written before done

    /**
     * A call.
     *
     * @param sequence number of the call, for tags
     * @param end elements of the longest run of elements that moves
     * @param step elements of a run that are moved at once
     */
    MpiWork(MpiComm comm, CallRecord record, long sequence, long end, long step) {
        this.comm = comm;
        this.job = comm.job();
        this.record = record;
        this.sequence = sequence;
        this.end = end;
        this.step = Math.max(1, step);
    }

    /** Number of rounds of messages per slice. */
    abstract int phases();

    /** Prepares a round of messages for elements {@code from} to {@code to} of every run. */
    abstract MessageBatch prepare(int phase, long from, long to);

    /** Processes the messages of a round. */
    abstract void complete(int phase, long from, long to);

    /** An empty batch of messages of this call. */
    final MessageBatch messages(int phase, int capacity) {
        return new MessageBatch(job.pool(), job.tags(), job.tags().base(record, sequence, phase), capacity);
    }

    /** Native memory for the current slice. */
    final NativeBuffer take(long bytes) {
        NativeBuffer buffer = job.pool().take(bytes);
        held.add(buffer);
        return buffer;
    }

    @Override
    public final CallRecord record() {
        return record;
    }

    @Override
    public final List<Integer> worldRanks() {
        return comm.worldRanks();
    }

    @Override
    public final boolean start() {
        if (end > 0) {
            messages = postNext();
            return progress();
        }
        finish();
        return true;
    }

    private MessageBatch postNext() {
        MessageBatch prepared = prepare(phase, from, Math.min(end, from + step));
        prepared.post(comm.handle());
        return prepared;
    }

    @Override
    public final boolean progress() {
        try {
            while (!done) {
                if (messages != null && !messages.test()) {
                    return false;
                }
                complete(phase, from, Math.min(end, from + step));
                messages = null;
                if (++phase == phases()) {
                    phase = 0;
                    from += step;
                    held.forEach(job.pool()::give);
                    held.clear();
                }
                if (from >= end) {
                    finish();
                } else {
                    messages = postNext();
                }
            }
        } catch (RuntimeException e) {
            fail(new CommunicationException(e.getMessage() + " (in " + record + ")", e));
        }
        return true;
    }

    private void finish() {
        record.done();
        done = true;
    }

    /** Its native memory is left to MPI, which may still write to it. */
    @Override
    public final void fail(CommunicationException reason) {
        if (!done) {
            failure = reason;
            job.abandon(held);
            record.failed();
            done = true;
        }
    }

    @Override
    public final boolean isOver() {
        return done;
    }

    @Override
    public final boolean isDone() {
        if (!done) {
            job.progress();
        }
        return done;
    }

    @Override
    public final void await() {
        if (!done) {
            record.awaited();
            job.await(this);
        }
        CommunicationException reason = failure;
        if (reason != null) {
            throw new CommunicationException(String.valueOf(reason.getMessage()), reason.getCause());
        }
    }

    /** Number of elements of a run between {@code from} and {@code to}. */
    static long part(long count, long from, long to) {
        return Math.max(0, Math.min(count, to) - from);
    }

    /** Copies elements {@code first} to {@code first + n} of an array to native memory. */
    static void copyOut(NdArray array, long first, long n, NativeBuffer to, long atBytes) {
        if (n > 0) {
            NdArray window = array.window(first, Shape.of(n));
            array.backend()
                    .copyOut(
                            window,
                            to.slice((int) atBytes, (int) n * array.dtype().bytes()));
        }
    }

    /** Copies native memory to elements {@code first} to {@code first + n} of an array. */
    static void copyIn(NativeBuffer from, long atBytes, NdArray array, long first, long n) {
        if (n > 0) {
            NdArray window = array.window(first, Shape.of(n));
            array.backend()
                    .copyIn(from.slice((int) atBytes, (int) n * array.dtype().bytes()), window);
        }
    }

    /**
     * Copies elements from one array to another unless they are the same. Does not use {@link NdArray#assign}, which would
     * await an output that is pending on this very call.
     */
    static void copy(NdArray from, long fromFirst, NdArray to, long toFirst, long n) {
        boolean same = from.storage() == to.storage() && from.offset() + fromFirst == to.offset() + toFirst;
        if (n > 0 && !same) {
            long[] one = {1};
            to.backend().elementwise().copy(from, fromFirst, one, to, toFirst, one, new long[] {n});
        }
    }
}
