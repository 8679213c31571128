package org.tp4j.threads;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;
import org.tp4j.comm.Work;
import org.tp4j.cpu.CpuBackend;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Scope;
import org.tp4j.tensor.Shape;

/**
 * A call on arrays of a device, made on copies in the host's memory: the slow path of ranks that share a device. The result
 * goes to the device when it is awaited.
 */
final class HostStagedWork implements Work {
    private static final int PIECE_BYTES = 16 << 20;

    private final Work work;
    private final NdArray host;
    private final NdArray device;
    private boolean back;

    private HostStagedWork(Work work, NdArray host, NdArray device) {
        this.work = work;
        this.host = host;
        this.device = device;
    }

    /** Whether an array's elements are the host's already. */
    static boolean isOnHost(@Nullable NdArray array) {
        return array == null || array.backend() instanceof CpuBackend;
    }

    /** The work, after which {@code host} goes to {@code device}; neither if nothing is written. */
    static Work of(Work work, @Nullable NdArray host, @Nullable NdArray device) {
        return host == null || device == null ? work : new HostStagedWork(work, host, device);
    }

    /** Room in the host's memory for an array of a device. */
    static NdArray room(NdArray device) {
        return Scope.outside(() -> NdArray.allocate(CpuBackend.get(), device.dtype(), device.shape()));
    }

    /** A copy in the host's memory. */
    static NdArray copyOf(NdArray device) {
        NdArray host = room(device);
        move(device, host);
        return host;
    }

    private static void move(NdArray from, NdArray to) {
        int width = from.dtype().bytes();
        long step = Math.min(from.elements(), PIECE_BYTES / width);
        ByteBuffer bytes = ByteBuffer.allocateDirect((int) step * width).order(ByteOrder.LITTLE_ENDIAN);
        for (long first = 0; first < from.elements(); first += step) {
            Shape piece = Shape.of(Math.min(step, from.elements() - first));
            bytes.clear().limit((int) piece.elements() * width);
            from.backend().copyOut(from.window(first, piece), bytes);
            bytes.rewind();
            to.backend().copyIn(bytes, to.window(first, piece));
        }
    }

    @Override
    public boolean isDone() {
        return work.isDone();
    }

    @Override
    public void await() {
        work.await();
        if (!back) {
            back = true;
            move(host, device);
        }
    }
}
