package org.tp4j.nccl;

import org.jspecify.annotations.Nullable;

/**
 * NCCL's {@code ncclConfig_t}: settings of a new communicator, with NCCL's names. Settings that are not set get NCCL's
 * defaults, or the values of its environment variables.
 *
 * @param blocking 1: calls return when they are done; 0: they may return {@link NcclResult#ncclInProgress} and continue in
 *     the background, until {@link JNccl#ncclCommGetAsyncError} returns another state. Since NCCL 2.14
 * @param cgaClusterSize size of the thread-block clusters of NCCL's kernels, 0 to 8. Since NCCL 2.17
 * @param minCTAs smallest number of thread blocks per kernel, at least 1. Since NCCL 2.17
 * @param maxCTAs largest number of thread blocks per kernel, at least minCTAs. Since NCCL 2.17
 * @param netName name of the network module to use, such as {@code IB} or {@code Socket}; null for NCCL's choice
 * @param splitShare 1: communicators split from this one share its resources. Since NCCL 2.18
 */
public record NcclConfig(
        int blocking,
        int cgaClusterSize,
        int minCTAs,
        int maxCTAs,
        @Nullable String netName,
        int splitShare) {
    /** The value of a setting that is not set. */
    public static final int NCCL_CONFIG_UNDEF_INT = Integer.MIN_VALUE;

    /** Nothing set: NCCL's {@code NCCL_CONFIG_INITIALIZER}. */
    public static NcclConfig initializer() {
        int undefined = NCCL_CONFIG_UNDEF_INT;
        return new NcclConfig(undefined, undefined, undefined, undefined, null, undefined);
    }

    /** With blocking (1) or non-blocking (0) calls. */
    public NcclConfig withBlocking(int value) {
        return new NcclConfig(value, cgaClusterSize, minCTAs, maxCTAs, netName, splitShare);
    }

    /** With another cluster size. */
    public NcclConfig withCgaClusterSize(int value) {
        return new NcclConfig(blocking, value, minCTAs, maxCTAs, netName, splitShare);
    }

    /** With bounds on the number of thread blocks, which limit how much of the device communication occupies. */
    public NcclConfig withCTAs(int least, int most) {
        return new NcclConfig(blocking, cgaClusterSize, least, most, netName, splitShare);
    }

    /** With another network module. */
    public NcclConfig withNetName(@Nullable String name) {
        return new NcclConfig(blocking, cgaClusterSize, minCTAs, maxCTAs, name, splitShare);
    }

    /** With resources shared with communicators split from it (1) or not (0). */
    public NcclConfig withSplitShare(int value) {
        return new NcclConfig(blocking, cgaClusterSize, minCTAs, maxCTAs, netName, value);
    }

    /** The fields in the order of the native side. */
    int[] fields() {
        return new int[] {blocking, cgaClusterSize, minCTAs, maxCTAs, splitShare};
    }
}
