package org.tp4j.nccl;

/** NCCL's {@code ncclResult_t}. */
public final class NcclResult {
    /** The call succeeded. */
    public static final int ncclSuccess = 0;

    /** A call to CUDA failed. */
    public static final int ncclUnhandledCudaError = 1;

    /** A call to the operating system failed. */
    public static final int ncclSystemError = 2;

    /** A check inside of NCCL failed: a fault of NCCL's, or corrupted memory. */
    public static final int ncclInternalError = 3;

    /** An argument has a value that cannot be. */
    public static final int ncclInvalidArgument = 4;

    /** The call is not allowed here: a fault of the program's. */
    public static final int ncclInvalidUsage = 5;

    /** A remote process has gone, or the network failed. */
    public static final int ncclRemoteError = 6;

    /** The call goes on in the background: non-blocking communicators. */
    public static final int ncclInProgress = 7;

    /** Time ran out. */
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

    /** The constant's name, such as {@code ncclInvalidUsage}; the number where it is not known. */
    public static String name(int result) {
        return result >= 0 && result < NAMES.length ? NAMES[result] : "ncclResult " + result;
    }
}
