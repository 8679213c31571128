package org.tp4j.nccl;

import org.jspecify.annotations.Nullable;

/**
 * The functions of {@code tp4j_nccl.c}: NCCL's own, with communicators passed as addresses of cells that hold a handle. They
 * do no checks; {@code JNccl} does. They return NCCL's result, or {@link #NOT_THERE}.
 */
final class NcclNative {
    /** The value of {@link #version()} in the matching native library. */
    static final int VERSION = 1;

    /** The library lacks the function. */
    static final int NOT_THERE = -1;

    private NcclNative() {}

    static native int version();

    /** Opens an NCCL library; returns null, or why it cannot be opened. */
    static native @Nullable String open(String path);

    /** Whether the library has a function. */
    static native boolean has(String function);

    static native long newCell();

    static native void freeCell(long cell);

    /** The handle in the cell; 0 if there is no communicator yet. */
    static native long handle(long cell);

    static native int getVersion(int[] version);

    static native int getUniqueId(byte[] id);

    static native int commInitRank(long cell, int ranks, byte[] id, int rank);

    static native int commInitRankConfig(
            long cell, int ranks, byte[] id, int rank, int[] fields, @Nullable String netName);

    static native int commSplit(
            long cell, int color, int key, long newCell, int @Nullable [] fields, @Nullable String netName);

    static native int commFinalize(long cell);

    static native int commDestroy(long cell);

    static native int commAbort(long cell);

    static native int commGetAsyncError(long cell, int[] state);

    static native int commCount(long cell, int[] count);

    static native int commUserRank(long cell, int[] rank);

    static native int commCuDevice(long cell, int[] device);

    static native @Nullable String getErrorString(int result);

    static native @Nullable String getLastError(long cell);

    static native int allReduce(long send, long receive, long count, int dataType, int op, long cell, long stream);

    static native int allGather(long send, long receive, long count, int dataType, long cell, long stream);

    static native int reduceScatter(long send, long receive, long count, int dataType, int op, long cell, long stream);

    static native int broadcast(long send, long receive, long count, int dataType, int root, long cell, long stream);

    static native int reduce(
            long send, long receive, long count, int dataType, int op, int root, long cell, long stream);

    static native int alltoAll(long send, long receive, long count, int dataType, long cell, long stream);

    static native int send(long address, long count, int dataType, int peer, long cell, long stream);

    static native int recv(long address, long count, int dataType, int peer, long cell, long stream);

    static native int groupStart();

    static native int groupEnd();
}
