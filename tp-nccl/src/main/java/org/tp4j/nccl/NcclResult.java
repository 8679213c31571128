package org.tp4j.nccl;

/** NCCL's {@code ncclResult_t}. */
public final class NcclResult {
    /** The call succeeded. */
    public static final int ncclSuccess = 0;

    /** A CUDA call failed. */
    public static final int ncclUnhandledCudaError = 1;

    /** A system call failed. */
    public static final int ncclSystemError = 2;

    /** A check inside NCCL failed: a bug in NCCL, or memory corruption. */
    public static final int ncclInternalError = 3;

    /** An argument has an invalid value. */
    public static final int ncclInvalidArgument = 4;

    /** The call is not allowed at this point: a bug in the program. */
    public static final int ncclInvalidUsage = 5;

    /** A remote process has exited, or the network failed. */
    public static final int ncclRemoteError = 6;

    /** The call is in progress in the background, on a non-blocking communicator. */
    public static final int ncclInProgress = 7;

    /** The call timed out. */
    public static final int ncclTimeout = 8;

    private static final String[] NAMES = {
        "ncclSuccess",
        "ncclUnhandledCudaError",
        "ncclSystemError",
        "ncclInternalError",
        "ncclInvalidArgument",
        "ncclInvalidUsage",
        "ncclRemoteError",
        "ncclInProgress",
        "ncclTimeout"
    };

    private NcclResult() {}

    /** The constant's name, such as {@code ncclInvalidUsage}; the number if it is unknown. */
    public static String name(int result) {
        return result >= 0 && result < NAMES.length ? NAMES[result] : "ncclResult " + result;
    }
}
