package org.tp4j.cuda.internal.capture;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import jcuda.Pointer;
import jcuda.driver.JCudaDriver;
import org.tp4j.cuda.internal.driver.Cuda;
import org.tp4j.cuda.internal.driver.DeviceMemory;
import org.tp4j.cuda.internal.driver.DeviceStream;
import org.tp4j.cuda.stream.StreamTrace;

/**
 * A captured step's id checks. Nothing waits for them while the step runs: their results are read whenever the host
 * has waited for the device, and before the next run.
 */
public final class IdChecks {
    private static final long NOTHING = Long.MAX_VALUE; // what the kernel writes if all ids are in range

    private final DeviceStream stream;
    private final List<Check> checks = new ArrayList<>();

    private record Check(Pointer pinned, ByteBuffer found, String what) {}

    IdChecks(DeviceStream stream) {
        this.stream = stream;
    }

    /**
     * Adds a check.
     *
     * @param found device memory to which a kernel writes the positions of ids out of range
     * @param count how many positions
     * @param what the ids and their range, for the message
     */
    public void add(DeviceMemory found, int count, String what) {
        Pointer pinned = new Pointer();
        long bytes = (long) count * Long.BYTES;
        Cuda.check(JCudaDriver.cuMemHostAlloc(pinned, bytes, 0), "cuMemHostAlloc");
        ByteBuffer buffer = pinned.getByteBuffer(0, bytes).order(ByteOrder.nativeOrder());
        Check check = new Check(pinned, buffer, what);
        clear(check);
        checks.add(check);
        Cuda.check(JCudaDriver.cuMemcpyDtoHAsync(pinned, found, bytes, stream.stream()), "cuMemcpyDtoHAsync");
        stream.note(StreamTrace.Kind.COPY, "device to host");
    }

    private static void clear(Check check) {
        for (int at = 0; at < check.found.capacity(); at += Long.BYTES) {
            check.found.putLong(at, NOTHING);
        }
    }

    /** @throws IllegalArgumentException if an id was out of range, once per run */
    void verify() {
        for (Check check : checks) {
            long first = NOTHING;
            for (int at = 0; at < check.found.capacity(); at += Long.BYTES) {
                first = Math.min(first, check.found.getLong(at));
            }
            if (first != NOTHING) {
                clear(check);
                throw new IllegalArgumentException("a captured step was given an id at position " + first + " of "
                        + check.what + "; its results since then cannot be trusted");
            }
        }
    }

    /** Frees the memory; the step must not run again. */
    void release() {
        checks.forEach(check -> JCudaDriver.cuMemFreeHost(check.pinned));
        checks.clear();
    }
}
