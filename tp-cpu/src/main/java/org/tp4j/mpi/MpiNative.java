package org.tp4j.mpi;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * The functions of {@code tp4j_mpi.c}. They throw {@link org.tp4j.comm.CommunicationException} with MPI's error text.
 *
 * <p>A plan is {@code count} times five longs in native memory: 1 for a receive or 0 for a send, the peer's rank in the
 * communicator, the tag, the address of the data and its length in bytes. Requests are {@code count} words.
 */
final class MpiNative {
    /** The value of {@link #version()} in the matching native library. */
    static final int VERSION = 1;

    private MpiNative() {}

    static native int version();

    /** Opens an MPI library; returns null, or why it cannot be opened. */
    static native @Nullable String open(String path);

    static native String libraryVersion();

    /** Initializes MPI unless it is already initialized; returns the thread level it provides. */
    static native int initialize();

    static native void finish();

    static native void abort(int code);

    static native long world();

    static native int rank(long comm);

    static native int size(long comm);

    static native long largestTag();

    static native long split(long comm, int color, int key);

    static native void free(long comm);

    static native long address(ByteBuffer direct);

    static native void post(long comm, long plan, int count, long requests);

    static native boolean test(long requests, int count);
}
