package org.tp4j.threads;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.tp4j.comm.Work;
import org.tp4j.cpu.CpuBackend;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Scope;
import org.tp4j.tensor.Shape;

/**
 * A call on device arrays, made on copies in host memory: the slow path of ranks that share a device. The result is copied
 * to the device when it is awaited.
 */
final class HostStagedWork implements Work {
    private static final int PIECE_BYTES = 16 << 20;

    private final Work work;
    private final NdArray host;
    private final NdArray device;
    private boolean copied;

    /** After {@code work}, {@code host} is copied to {@code device}. */
    HostStagedWork(Work work, NdArray host, NdArray device) {
        this.work = work;
        this.host = host;
        this.device = device;
    }

    /** Whether an array's elements are in host memory. */
    static boolean isOnHost(NdArray array) {
        return array.backend() instanceof CpuBackend;
    }

    /** Host memory for the elements of a device array. */
    static NdArray room(NdArray device) {
        return Scope.outside(() -> NdArray.allocate(CpuBackend.get(), device.dtype(), device.shape()));
    }

    /** A copy in host memory. */
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
        if (!copied) {
            copied = true;
            move(host, device);
        }
    }
}
