package org.tp4j.mpi;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import org.tp4j.comm.CommunicationException;

/**
 * Native memory that messages are sent from and received into.
 *
 * @param buffer the memory
 * @param address where it is
 */
record NativeBuffer(ByteBuffer buffer, long address) {
    private static final int SMALLEST = 1024;
    private static final int LARGEST = 1 << 30;

    /** Bytes {@code at} to {@code at + length} as a buffer of its own, little-endian. */
    ByteBuffer slice(int at, int length) {
        return buffer.slice(at, length).order(ByteOrder.LITTLE_ENDIAN);
    }

    /** Memory that has been used and will be again, by powers of two. Guarded by its job's lock. */
    static final class Pool {
        private final Map<Integer, Deque<NativeBuffer>> free = new HashMap<>();

        NativeBuffer take(long bytes) {
            if (bytes > LARGEST) {
                throw new CommunicationException("a message buffer of " + bytes + " bytes; at most " + LARGEST);
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
                        "no " + capacity + " bytes of native memory for messages; HINT: -XX:MaxDirectMemorySize=N", e);
            }
            return new NativeBuffer(buffer, MpiNative.address(buffer));
        }

        void give(NativeBuffer staging) {
            free.computeIfAbsent(staging.buffer().capacity(), c -> new ArrayDeque<>())
                    .addLast(staging);
        }

        private static int capacity(int bytes) {
            return bytes <= SMALLEST ? SMALLEST : Integer.highestOneBit(bytes - 1) << 1;
        }
    }
}
