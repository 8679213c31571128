package org.tp4j.mpi;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import org.tp4j.comm.CommunicationException;

/**
 * Native memory for sending and receiving messages.
 *
 * @param buffer the memory
 * @param address its address
 */
record NativeBuffer(ByteBuffer buffer, long address) {
    private static final int SMALLEST = 1024;
    private static final int LARGEST = 1 << 30;

    /** Bytes {@code at} to {@code at + length} as a little-endian buffer. */
    ByteBuffer slice(int at, int length) {
        return buffer.slice(at, length).order(ByteOrder.LITTLE_ENDIAN);
    }

    /** Reusable buffers, by power-of-two capacity. Guarded by the job's lock. */
    static final class Pool {
        private final Map<Integer, Deque<NativeBuffer>> free = new HashMap<>();

        NativeBuffer take(long bytes) {
            if (bytes > LARGEST) {
                throw new CommunicationException("a message buffer of " + bytes + " bytes was requested; HINT: at most "
                        + LARGEST + " are possible, so send less at a time");
            }
            int capacity = capacity((int) bytes);
            Deque<NativeBuffer> waiting = free.get(capacity);
            NativeBuffer found = waiting == null ? null : waiting.pollLast();
            if (found != null) {
                return found;
            }
            ByteBuffer buffer;
            try {
                buffer = ByteBuffer.allocateDirect(capacity).order(ByteOrder.LITTLE_ENDIAN);
            } catch (OutOfMemoryError e) {
                throw new CommunicationException(
                        "out of native memory: " + capacity + " bytes for messages; HINT: -XX:MaxDirectMemorySize=N",
                        e);
            }
            return new NativeBuffer(buffer, MpiNative.address(buffer));
        }

        void give(NativeBuffer memory) {
            free.computeIfAbsent(memory.buffer().capacity(), c -> new ArrayDeque<>())
                    .addLast(memory);
        }

        private static int capacity(int bytes) {
            return bytes <= SMALLEST ? SMALLEST : Integer.highestOneBit(bytes - 1) << 1;
        }
    }
}
