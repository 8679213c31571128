package org.tp4j.cuda;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import jcuda.Pointer;
import jcuda.driver.JCudaDriver;
import org.jspecify.annotations.Nullable;

/**
 * The checks of ids that a captured step makes. Nobody waits for them while it runs: what they find is looked at whenever
 * the host has waited for the device, and before the next run.
 */
final class IdChecks {
    private static final long NOTHING = Long.MAX_VALUE; // what the kernel writes where all ids are allowed
    private static final ThreadLocal<@Nullable IdChecks> CURRENT = new ThreadLocal<>();

    private final CudaStream stream;
    private final List<Check> checks = new ArrayList<>();

    private record Check(Pointer pinned, ByteBuffer found, String what) {}

    IdChecks(CudaStream stream) {
        this.stream = stream;
    }

    /** Those of the step that is being captured on this thread, or null. */
    static @Nullable IdChecks current() {
        return CURRENT.get();
    }

    static void setCurrent(@Nullable IdChecks checks) {
        CURRENT.set(checks);
    }

    /**
     * Adds one.
     *
     * @param found device memory in which a kernel leaves positions of ids that are not allowed
     * @param count how many positions
     * @param what the ids and what is allowed, in words
     */
    void add(DeviceMemory found, int count, String what) {
        Pointer pinned = new Pointer();
        long bytes = (long) count * Long.BYTES;
        Cuda.check(JCudaDriver.cuMemHostAlloc(pinned, bytes, 0), "cuMemHostAlloc");
        ByteBuffer buffer = pinned.getByteBuffer(0, bytes).order(ByteOrder.nativeOrder());
        Check check = new Check(pinned, buffer, what);
        forget(check);
        checks.add(check);
        Cuda.check(JCudaDriver.cuMemcpyDtoHAsync(pinned, found, bytes, stream.stream()), "cuMemcpyDtoHAsync");
        stream.note(StreamTrace.Kind.COPY, "device to host");
    }

    private static void forget(Check check) {
        for (int at = 0; at < check.found.capacity(); at += Long.BYTES) {
            check.found.putLong(at, NOTHING);
        }
    }

    /** @throws IllegalArgumentException if an id was not allowed, once for each run */
    void verify() {
        for (Check check : checks) {
            long first = NOTHING;
            for (int at = 0; at < check.found.capacity(); at += Long.BYTES) {
                first = Math.min(first, check.found.getLong(at));
            }
            if (first != NOTHING) {
                forget(check);
                throw new IllegalArgumentException("a captured step was given an id at position " + first + " of "
                        + check.what + "; what it computed since is not to be trusted");
            }
        }
    }

    /** Lets go of pinned memory; the step runs no more. */
    void release() {
        checks.forEach(check -> JCudaDriver.cuMemFreeHost(check.pinned));
        checks.clear();
    }
}
