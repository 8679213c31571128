package org.tp4j.nccl;

import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Java bindings to NCCL, NVIDIA's collectives library: methods, constants and types named as its own, so that its manual
 * is the manual of these too. The library {@code libnccl.so.2} is opened when first needed; nothing of NCCL is needed to
 * build.
 *
 * <pre>{@code
 * // Each rank, in its own process or thread, with its CUDA context current on the calling thread:
 * NcclUniqueId id = rank == 0 ? JNccl.ncclGetUniqueId() : NcclUniqueId.of(bytesFromRank0);
 * try (NcclComm comm = JNccl.ncclCommInitRank(ranks, id, rank)) {
 *     JNccl.ncclAllReduce(in, out, count, NcclDataType.ncclFloat32, NcclRedOp.ncclSum, comm, stream);
 *     // ... wait for the stream ...
 * }
 * }</pre>
 *
 * <p><b>What differs from C.</b> Device addresses and streams are longs: a {@code CUdeviceptr} and a {@code CUstream}, or
 * their equals {@code void*} and {@code cudaStream_t}. A call that fails throws {@link NcclException}, with NCCL's result
 * and its last error; the methods that can go on in the background return {@link NcclResult#ncclSuccess} or
 * {@link NcclResult#ncclInProgress}, the others what C gives back by pointer. Ended communicators are refused here, before
 * NCCL would crash on them. Addresses and counts are not checked: they are NCCL's to check, or CUDA's.
 *
 * <p>A function that this machine's library does not have throws {@link UnsupportedOperationException} with the library's
 * version and the one that brought the function; {@link #has} tells beforehand.
 *
 * <p>NCCL uses the device of the CUDA context that is current on the calling thread.
 */
public final class JNccl {
    /** Color of the ranks that a split leaves out. */
    public static final int NCCL_SPLIT_NOCOLOR = -1;

    private JNccl() {}

    /** Why NCCL cannot be used on this machine, in words for the user; empty if it can. */
    public static Optional<String> unavailable() {
        return NcclLibrary.unavailable();
    }

    /**
     * Whether this machine's library has a function, such as {@code ncclAlltoAll}.
     *
     * @throws org.tp4j.tensor.NativeLibraryException if there is no NCCL here
     */
    public static boolean has(String function) {
        NcclLibrary.require();
        return NcclNative.has(function);
    }

    /**
     * The library's version, as 10000 major + 100 minor + patch (2.8 and before: 1000 major + 100 minor + patch).
     *
     * @throws org.tp4j.tensor.NativeLibraryException if there is no NCCL here; the same goes for all other functions
     */
    public static int ncclGetVersion() {
        NcclLibrary.require();
        int[] version = new int[1];
        check("ncclGetVersion", "2.0", 0, NcclNative.getVersion(version));
        return version[0];
    }

    /** A version as people write it, such as 2.18.3 for 21803. */
    public static String versionText(int version) {
        int major = version >= 10_000 ? version / 10_000 : version / 1000;
        int minor = version >= 10_000 ? version / 100 % 100 : version / 100 % 10;
        return major + "." + minor + "." + version % 100;
    }

    /** A new id, for the ranks of one new communicator; this process serves them until all have joined. */
    public static NcclUniqueId ncclGetUniqueId() {
        NcclLibrary.require();
        byte[] id = new byte[NcclUniqueId.NCCL_UNIQUE_ID_BYTES];
        check("ncclGetUniqueId", "2.0", 0, NcclNative.getUniqueId(id));
        return NcclUniqueId.of(id);
    }

    /**
     * Joins a new communicator; waits until all ranks have, unless inside of a group.
     *
     * @param nranks number of ranks
     * @param commId what {@link #ncclGetUniqueId()} gave one of them
     * @param rank this one's number, from 0
     */
    public static NcclComm ncclCommInitRank(int nranks, NcclUniqueId commId, int rank) {
        NcclLibrary.require();
        NcclComm comm = new NcclComm();
        return made(
                comm, "ncclCommInitRank", "2.0", NcclNative.commInitRank(comm.cell(), nranks, commId.bytes(), rank));
    }

    /** As {@link #ncclCommInitRank}, with settings. Since NCCL 2.14. */
    public static NcclComm ncclCommInitRankConfig(int nranks, NcclUniqueId commId, int rank, NcclConfig config) {
        NcclLibrary.require();
        NcclComm comm = new NcclComm();
        return made(
                comm,
                "ncclCommInitRankConfig",
                "2.14",
                NcclNative.commInitRankConfig(
                        comm.cell(), nranks, commId.bytes(), rank, config.fields(), config.netName()));
    }

    /**
     * New communicators of the ranks that give the same color, ordered by key, then rank. Since NCCL 2.18.
     *
     * @param color at least 0, or {@link #NCCL_SPLIT_NOCOLOR} for a rank that is in none: its result has no
     *     {@linkplain NcclComm#handle() handle}
     * @param config null for the settings of {@code comm}
     * @return of a non-blocking communicator, usable when that one is no longer in progress
     */
    public static NcclComm ncclCommSplit(NcclComm comm, int color, int key, @Nullable NcclConfig config) {
        long cell = comm.enter("ncclCommSplit");
        try {
            NcclComm made = new NcclComm();
            int[] fields = config == null ? null : config.fields();
            String netName = config == null ? null : config.netName();
            return made(
                    made,
                    "ncclCommSplit",
                    "2.18",
                    NcclNative.commSplit(cell, color, key, made.cell(), fields, netName));
        } finally {
            comm.leave();
        }
    }

    /** Flushes what has been issued; must be followed by {@link #ncclCommDestroy}. Since NCCL 2.14. */
    public static int ncclCommFinalize(NcclComm comm) {
        long cell = comm.enter("ncclCommFinalize");
        try {
            return check("ncclCommFinalize", "2.14", cell, NcclNative.commFinalize(cell));
        } finally {
            comm.leave();
        }
    }

    /** Frees a communicator; waits for what has been issued. Does nothing to one that has ended. */
    public static int ncclCommDestroy(NcclComm comm) {
        if (!comm.end()) {
            return NcclResult.ncclSuccess;
        }
        try {
            return check("ncclCommDestroy", "2.0", 0, NcclNative.commDestroy(comm.cell()));
        } finally {
            comm.free();
        }
    }

    /**
     * Ends a communicator and what is under way on it, on the device too: streams that wait in it go on. For any thread, at
     * any time. Does nothing to one that has ended.
     */
    public static int ncclCommAbort(NcclComm comm) {
        if (!comm.end()) {
            return NcclResult.ncclSuccess;
        }
        try {
            return check("ncclCommAbort", "2.4", 0, NcclNative.commAbort(comm.cell()));
        } finally {
            comm.free();
        }
    }

    /**
     * How a communicator fares: {@link NcclResult#ncclSuccess}, {@link NcclResult#ncclInProgress} while a call of a
     * non-blocking one goes on, or the error that has struck it. For any thread.
     */
    public static int ncclCommGetAsyncError(NcclComm comm) {
        return value(comm, "ncclCommGetAsyncError", "2.4", NcclNative::commGetAsyncError);
    }

    /** Number of ranks. */
    public static int ncclCommCount(NcclComm comm) {
        return value(comm, "ncclCommCount", "2.0", NcclNative::commCount);
    }

    /** This rank's number. */
    public static int ncclCommUserRank(NcclComm comm) {
        return value(comm, "ncclCommUserRank", "2.0", NcclNative::commUserRank);
    }

    /** The index of this rank's device. */
    public static int ncclCommCuDevice(NcclComm comm) {
        return value(comm, "ncclCommCuDevice", "2.0", NcclNative::commCuDevice);
    }

    /** What a result means, in NCCL's words. */
    public static String ncclGetErrorString(int result) {
        NcclLibrary.require();
        String text = NcclNative.getErrorString(result);
        return text == null ? NcclResult.name(result) : text;
    }

    /** What went wrong last, in NCCL's words; empty if nothing has, or before NCCL 2.13. */
    public static String ncclGetLastError(@Nullable NcclComm comm) {
        NcclLibrary.require();
        if (comm == null) {
            return lastError(0);
        }
        long cell = comm.enter("ncclGetLastError");
        try {
            return lastError(cell);
        } finally {
            comm.leave();
        }
    }

    /** recvbuff = the reduction of all ranks' sendbuff; may be in place. */
    public static int ncclAllReduce(
            long sendbuff, long recvbuff, long count, int datatype, int op, NcclComm comm, long stream) {
        long cell = comm.enter("ncclAllReduce");
        try {
            int result = NcclNative.allReduce(sendbuff, recvbuff, count, datatype, op, cell, stream);
            return check("ncclAllReduce", "2.0", cell, result);
        } finally {
            comm.leave();
        }
    }

    /** recvbuff, of sendcount elements times the number of ranks = all ranks' sendbuff, one after the other. */
    public static int ncclAllGather(
            long sendbuff, long recvbuff, long sendcount, int datatype, NcclComm comm, long stream) {
        long cell = comm.enter("ncclAllGather");
        try {
            int result = NcclNative.allGather(sendbuff, recvbuff, sendcount, datatype, cell, stream);
            return check("ncclAllGather", "2.0", cell, result);
        } finally {
            comm.leave();
        }
    }

    /** recvbuff = this rank's run of recvcount elements of the reduction of all ranks' sendbuff. */
    public static int ncclReduceScatter(
            long sendbuff, long recvbuff, long recvcount, int datatype, int op, NcclComm comm, long stream) {
        long cell = comm.enter("ncclReduceScatter");
        try {
            int result = NcclNative.reduceScatter(sendbuff, recvbuff, recvcount, datatype, op, cell, stream);
            return check("ncclReduceScatter", "2.0", cell, result);
        } finally {
            comm.leave();
        }
    }

    /** Every rank's recvbuff = sendbuff of root; sendbuff of the others is not looked at. */
    public static int ncclBroadcast(
            long sendbuff, long recvbuff, long count, int datatype, int root, NcclComm comm, long stream) {
        long cell = comm.enter("ncclBroadcast");
        try {
            int result = NcclNative.broadcast(sendbuff, recvbuff, count, datatype, root, cell, stream);
            return check("ncclBroadcast", "2.2", cell, result);
        } finally {
            comm.leave();
        }
    }

    /** recvbuff of root = the reduction of all ranks' sendbuff; recvbuff of the others is not looked at. */
    public static int ncclReduce(
            long sendbuff, long recvbuff, long count, int datatype, int op, int root, NcclComm comm, long stream) {
        long cell = comm.enter("ncclReduce");
        try {
            int result = NcclNative.reduce(sendbuff, recvbuff, count, datatype, op, root, cell, stream);
            return check("ncclReduce", "2.0", cell, result);
        } finally {
            comm.leave();
        }
    }

    /**
     * Run i of sendbuff, of count elements, goes to rank i; run i of recvbuff comes from rank i. Not in place. In libraries
     * without the function (before NCCL 2.28) it is done by {@link #ncclSend} and {@link #ncclRecv} in a group.
     */
    public static int ncclAlltoAll(long sendbuff, long recvbuff, long count, int datatype, NcclComm comm, long stream) {
        if (!has("ncclAlltoAll")) {
            return exchange(sendbuff, recvbuff, count, datatype, comm, stream);
        }
        long cell = comm.enter("ncclAlltoAll");
        try {
            int result = NcclNative.alltoAll(sendbuff, recvbuff, count, datatype, cell, stream);
            return check("ncclAlltoAll", "2.28", cell, result);
        } finally {
            comm.leave();
        }
    }

    private static int exchange(long sendbuff, long recvbuff, long count, int datatype, NcclComm comm, long stream) {
        int ranks = ncclCommCount(comm);
        long bytes = count * NcclDataType.bytes(datatype);
        ncclGroupStart();
        try {
            for (int peer = 0; peer < ranks; peer++) {
                ncclSend(sendbuff + peer * bytes, count, datatype, peer, comm, stream);
                ncclRecv(recvbuff + peer * bytes, count, datatype, peer, comm, stream);
            }
        } catch (RuntimeException e) {
            NcclNative.groupEnd(); // so that later calls are not taken for part of this group
            throw e;
        }
        return ncclGroupEnd();
    }

    /** Sends to a rank, which must call {@link #ncclRecv} with the same count and type. Since NCCL 2.7. */
    public static int ncclSend(long sendbuff, long count, int datatype, int peer, NcclComm comm, long stream) {
        long cell = comm.enter("ncclSend");
        try {
            return check("ncclSend", "2.7", cell, NcclNative.send(sendbuff, count, datatype, peer, cell, stream));
        } finally {
            comm.leave();
        }
    }

    /** Receives from a rank. Since NCCL 2.7. */
    public static int ncclRecv(long recvbuff, long count, int datatype, int peer, NcclComm comm, long stream) {
        long cell = comm.enter("ncclRecv");
        try {
            return check("ncclRecv", "2.7", cell, NcclNative.recv(recvbuff, count, datatype, peer, cell, stream));
        } finally {
            comm.leave();
        }
    }

    /** From here to {@link #ncclGroupEnd}, this thread's calls are collected into one. */
    public static void ncclGroupStart() {
        NcclLibrary.require();
        check("ncclGroupStart", "2.0", 0, NcclNative.groupStart());
    }

    /** Starts what the group has collected. */
    public static int ncclGroupEnd() {
        NcclLibrary.require();
        return check("ncclGroupEnd", "2.0", 0, NcclNative.groupEnd());
    }

    /** A function that gives back an int. */
    private interface Getter {
        int call(long cell, int[] out);
    }

    private static int value(NcclComm comm, String call, String since, Getter getter) {
        long cell = comm.enter(call);
        try {
            int[] out = new int[1];
            check(call, since, cell, getter.call(cell, out));
            return out[0];
        } finally {
            comm.leave();
        }
    }

    private static NcclComm made(NcclComm comm, String call, String since, int result) {
        try {
            check(call, since, 0, result);
            return comm;
        } catch (RuntimeException e) {
            comm.discard();
            throw e;
        }
    }

    private static int check(String call, String since, long cell, int result) {
        if (result == NcclResult.ncclSuccess || result == NcclResult.ncclInProgress) {
            return result;
        }
        if (result == NcclNative.NOT_THERE) {
            throw new UnsupportedOperationException(call + " is not in " + NcclLibrary.require()
                    + "; HINT: it came with NCCL " + since + ": install that or a later one");
        }
        String meaning = NcclNative.getErrorString(result);
        throw new NcclException(result, call, meaning == null ? "unknown" : meaning, lastError(cell));
    }

    private static String lastError(long cell) {
        String text = NcclNative.getLastError(cell);
        return text == null ? "" : text.strip();
    }
}
