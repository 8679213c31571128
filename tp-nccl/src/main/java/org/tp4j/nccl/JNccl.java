package org.tp4j.nccl;

import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Java bindings to NCCL, NVIDIA's collectives library: methods, constants and types have NCCL's names, so that its manual
 * applies. The library {@code libnccl.so.2} is opened at first use; building does not need NCCL.
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
 * their equivalents {@code void*} and {@code cudaStream_t}. A call that fails throws {@link NcclException}, with NCCL's result
 * and its last error; methods that can continue in the background return {@link NcclResult#ncclSuccess} or
 * {@link NcclResult#ncclInProgress}, the others return what C returns by pointer. Communicators that have been destroyed or
 * aborted are refused, since NCCL would crash on them. Addresses and counts are not checked here, but by NCCL or CUDA.
 *
 * <p>A function that this machine's library lacks throws {@link UnsupportedOperationException} with the library's version and
 * the first version that has the function; see {@link #has}.
 *
 * <p>NCCL uses the device of the CUDA context that is current on the calling thread.
 */
public final class JNccl {
    /** Color of ranks that a split leaves out. */
    public static final int NCCL_SPLIT_NOCOLOR = -1;

    private JNccl() {}

    /** Why NCCL cannot be used on this machine, as a message for the user; empty if it can. */
    public static Optional<String> unavailable() {
        return NcclLibrary.unavailable();
    }

    /**
     * Whether this machine's library has a function, such as {@code ncclAlltoAll}.
     *
     * @throws org.tp4j.tensor.NativeLibraryException if NCCL is not available
     */
    public static boolean has(String function) {
        NcclLibrary.require();
        return NcclNative.has(function);
    }

    /**
     * The library's version, as 10000 major + 100 minor + patch (2.8 and before: 1000 major + 100 minor + patch).
     *
     * @throws org.tp4j.tensor.NativeLibraryException if NCCL is not available, as do all other functions
     */
    public static int ncclGetVersion() {
        NcclLibrary.require();
        int[] version = new int[1];
        check("ncclGetVersion", "2.0", 0, NcclNative.getVersion(version));
        return version[0];
    }

    /** A version as text, such as 2.18.3 for 21803. */
    public static String versionText(int version) {
        return NcclLibrary.versionText(version);
    }

    /** A new id for the ranks of a new communicator; this process serves them until all have joined. */
    public static NcclUniqueId ncclGetUniqueId() {
        NcclLibrary.require();
        byte[] id = new byte[NcclUniqueId.NCCL_UNIQUE_ID_BYTES];
        check("ncclGetUniqueId", "2.0", 0, NcclNative.getUniqueId(id));
        return NcclUniqueId.of(id);
    }

    /**
     * Joins a new communicator; waits until all ranks have joined, unless inside a group.
     *
     * @param nranks number of ranks
     * @param commId the id that one of the ranks created with {@link #ncclGetUniqueId()}
     * @param rank this rank, from 0
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
     * New communicators of the ranks with the same color, ordered by key, then rank. Since NCCL 2.18.
     *
     * @param color at least 0, or {@link #NCCL_SPLIT_NOCOLOR} for a rank that is in none; its result has no
     *     {@linkplain NcclComm#handle() handle}
     * @param config settings; null to inherit those of {@code comm}
     * @return the new communicator; if {@code comm} is non-blocking, usable once {@code comm} is no longer in progress
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

    /** Flushes the calls made so far; must be followed by {@link #ncclCommDestroy}. Since NCCL 2.14. */
    public static int ncclCommFinalize(NcclComm comm) {
        long cell = comm.enter("ncclCommFinalize");
        try {
            return check("ncclCommFinalize", "2.14", cell, NcclNative.commFinalize(cell));
        } finally {
            comm.leave();
        }
    }

    /** Frees a communicator after waiting for the calls made so far. Idempotent. */
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
     * Ends a communicator and the calls under way on it, also on the device, so that streams blocked in it continue. Any thread
     * may call it at any time. Idempotent.
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
     * State of a communicator: {@link NcclResult#ncclSuccess}, {@link NcclResult#ncclInProgress} while a call on a non-blocking
     * one is in progress, or the asynchronous NCCL error. Any thread may call it.
     */
    public static int ncclCommGetAsyncError(NcclComm comm) {
        return value(comm, "ncclCommGetAsyncError", "2.4", NcclNative::commGetAsyncError);
    }

    /** Number of ranks. */
    public static int ncclCommCount(NcclComm comm) {
        return value(comm, "ncclCommCount", "2.0", NcclNative::commCount);
    }

    /** This rank. */
    public static int ncclCommUserRank(NcclComm comm) {
        return value(comm, "ncclCommUserRank", "2.0", NcclNative::commUserRank);
    }

    /** Index of this rank's device. */
    public static int ncclCommCuDevice(NcclComm comm) {
        return value(comm, "ncclCommCuDevice", "2.0", NcclNative::commCuDevice);
    }

    /** NCCL's description of a result. */
    public static String ncclGetErrorString(int result) {
        NcclLibrary.require();
        String text = NcclNative.getErrorString(result);
        return text == null ? NcclResult.name(result) : text;
    }

    /** NCCL's text of the last error; empty if there was none, or before NCCL 2.13. */
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

    /** recvbuff (sendcount elements per rank) = all ranks' sendbuff, concatenated in rank order. */
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

    /** recvbuff = this rank's recvcount elements of the reduction of all ranks' sendbuff. */
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

    /** Every rank's recvbuff = root's sendbuff; sendbuff is ignored on other ranks. */
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

    /** root's recvbuff = the reduction of all ranks' sendbuff; recvbuff is ignored on other ranks. */
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
     * Sends the i-th count elements of sendbuff to rank i, and receives the i-th count elements of recvbuff from it. Not in
     * place. If the library lacks the function (before NCCL 2.28), uses {@link #ncclSend} and {@link #ncclRecv} in a group.
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
            NcclNative.groupEnd(); // so that later calls do not become part of this group
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

    /** From here to {@link #ncclGroupEnd}, this thread's calls are combined into one group. */
    public static void ncclGroupStart() {
        NcclLibrary.require();
        check("ncclGroupStart", "2.0", 0, NcclNative.groupStart());
    }

    /** Starts the calls of the group. */
    public static int ncclGroupEnd() {
        NcclLibrary.require();
        return check("ncclGroupEnd", "2.0", 0, NcclNative.groupEnd());
    }

    /** A function that returns an int. */
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
            throw new UnsupportedOperationException(
                    call + " is not in " + NcclLibrary.require() + "; HINT: install NCCL " + since + " or later");
        }
        String meaning = NcclNative.getErrorString(result);
        throw new NcclException(result, call, meaning == null ? "unknown" : meaning, lastError(cell));
    }

    private static String lastError(long cell) {
        String text = NcclNative.getLastError(cell);
        return text == null ? "" : text.strip();
    }
}
