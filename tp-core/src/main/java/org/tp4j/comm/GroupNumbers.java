package org.tp4j.comm;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import org.tp4j.tensor.Backend;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Scope;
import org.tp4j.tensor.Shape;

/**
 * Small blocking exchanges between the ranks of a group: a few numbers, equally many from each rank. For agreement and
 * diagnostics, not for data; every method is collective.
 */
@SuppressWarnings("try") // scopes that only own
public final class GroupNumbers {
    private GroupNumbers() {}

    /** All ranks' {@code mine}, in rank order: an array [ranks, elements of {@code mine}] in the current scope. */
    public static NdArray allGather(ProcessGroup group, NdArray mine) {
        long[] counts = new long[group.size()];
        Arrays.fill(counts, mine.elements());
        NdArray all = NdArray.allocate(mine.backend(), mine.dtype(), Shape.of(group.size(), mine.elements()));
        group.allGather(mine, all, counts).await();
        return all;
    }

    /**
     * All ranks' numbers, in rank order.
     *
     * @param backend holds them on the way
     * @param mine equally many on every rank
     */
    public static long[] allGather(ProcessGroup group, Backend backend, long... mine) {
        try (Scope scope = Scope.open("numbers of all ranks")) {
            return read(allGather(group, array(backend, mine)));
        }
    }

    /** As {@link #allGather(ProcessGroup, Backend, long...)}, one byte per value. */
    public static boolean[] allGather(ProcessGroup group, Backend backend, boolean[] mine) {
        try (Scope scope = Scope.open("flags of all ranks")) {
            ByteBuffer bytes = ByteBuffer.allocate(mine.length * group.size()).order(ByteOrder.LITTLE_ENDIAN);
            for (boolean flag : mine) {
                bytes.put((byte) (flag ? 1 : 0));
            }
            NdArray array = NdArray.allocate(backend, DType.BOOL, Shape.of(mine.length));
            backend.copyIn(bytes.flip(), array);
            backend.copyOut(allGather(group, array), bytes.clear());
            boolean[] all = new boolean[bytes.capacity()];
            for (int i = 0; i < all.length; i++) {
                all[i] = bytes.get(i) != 0;
            }
            return all;
        }
    }

    /** Sends number i to rank i and returns the number received from each rank. */
    public static long[] allToAll(ProcessGroup group, Backend backend, long[] toEach) {
        long[] ones = new long[group.size()];
        Arrays.fill(ones, 1);
        try (Scope scope = Scope.open("numbers from all ranks")) {
            NdArray received = NdArray.allocate(backend, DType.INT64, Shape.of(group.size()));
            group.allToAll(array(backend, toEach), ones, received, ones).await();
            return read(received);
        }
    }

    private static NdArray array(Backend backend, long[] values) {
        ByteBuffer bytes = ByteBuffer.allocate(values.length * Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        bytes.asLongBuffer().put(values);
        NdArray array = NdArray.allocate(backend, DType.INT64, Shape.of(values.length));
        backend.copyIn(bytes, array);
        return array;
    }

    private static long[] read(NdArray array) {
        ByteBuffer bytes =
                ByteBuffer.allocate((int) array.elements() * Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        array.backend().copyOut(array, bytes);
        long[] values = new long[(int) array.elements()];
        bytes.rewind().asLongBuffer().get(values);
        return values;
    }
}
