package org.tp4j.cuda.internal.launch;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import jcuda.Pointer;
import org.jspecify.annotations.Nullable;
import org.tp4j.cuda.internal.capture.Capture;
import org.tp4j.cuda.internal.memory.CudaStorage;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.StepNumber;

/**
 * The one struct a kernel of ours takes, written field by field in the order and with the alignment of the C struct. The
 * launch copies it, so that one buffer a thread serves every launch.
 */
public final class Arguments {
    private static final int CAPACITY = 4096; // the most that CUDA passes to a kernel
    private static final ThreadLocal<Arguments> MINE = ThreadLocal.withInitial(Arguments::new);

    private final ByteBuffer buffer = ByteBuffer.allocateDirect(CAPACITY).order(ByteOrder.nativeOrder());
    private final Pointer pointer = Pointer.to(Pointer.to(buffer));
    private int end;
    private int dirty; // what earlier launches have written reaches to here

    private Arguments() {}

    /** The current thread's, empty. */
    public static Arguments begin() {
        Arguments mine = MINE.get();
        mine.dirty = Math.max(mine.dirty, mine.end); // also of a launch that was given up
        mine.end = 0;
        return mine;
    }

    /** Where the next field goes; what is left free before it is zeros, not what an earlier launch had there. */
    private int place(int bytes) {
        int at = (end + bytes - 1) & -bytes;
        while (end < at) {
            buffer.put(end++, (byte) 0);
        }
        end = at + bytes;
        return at;
    }

    /** A pointer to the array's first element; a null pointer for null. */
    public Arguments array(@Nullable NdArray array) {
        return int64(array == null ? 0 : CudaStorage.addressOf(array));
    }

    /** A {@code long long}, or a pointer as a number. */
    public Arguments int64(long value) {
        buffer.putLong(place(Long.BYTES), value);
        return this;
    }

    /** An {@code int}. */
    public Arguments int32(int value) {
        buffer.putInt(place(Integer.BYTES), value);
        return this;
    }

    /** A {@code float}. */
    Arguments float32(double value) {
        buffer.putFloat(place(Float.BYTES), (float) value);
        return this;
    }

    /** A {@code double}. */
    public Arguments float64(double value) {
        buffer.putDouble(place(Double.BYTES), value);
        return this;
    }

    /** A {@code const long long *} and a {@code long long}: where the kernel finds the number, or null and the number. */
    public Arguments number(StepNumber number) {
        return int64(number.varies() ? Capture.addressOf(number) : 0).int64(number.bits());
    }

    /** A {@code long long[capacity]}, the rest 0. */
    Arguments int64s(long[] values, int capacity) {
        for (int i = 0; i < capacity; i++) {
            int64(i < values.length ? values[i] : 0);
        }
        return this;
    }

    /** The fields written so far. */
    ByteBuffer written() {
        return buffer.duplicate().order(ByteOrder.nativeOrder()).limit(end);
    }

    /** What the launch is given; what is between and behind the fields written is zeros. */
    Pointer pointer() {
        for (int at = end; at < dirty; at++) {
            buffer.put(at, (byte) 0);
        }
        dirty = end;
        return pointer;
    }
}
