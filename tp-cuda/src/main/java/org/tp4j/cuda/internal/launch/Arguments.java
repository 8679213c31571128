package org.tp4j.cuda.internal.launch;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Objects;
import jcuda.Pointer;
import org.jspecify.annotations.Nullable;
import org.tp4j.cuda.internal.arguments.ArgumentStruct;
import org.tp4j.cuda.internal.arguments.ArgumentStruct.ArrayField;
import org.tp4j.cuda.internal.arguments.ArgumentStruct.BoxField;
import org.tp4j.cuda.internal.arguments.ArgumentStruct.DividerField;
import org.tp4j.cuda.internal.arguments.ArgumentStruct.DoubleField;
import org.tp4j.cuda.internal.arguments.ArgumentStruct.FactorsField;
import org.tp4j.cuda.internal.arguments.ArgumentStruct.IntField;
import org.tp4j.cuda.internal.arguments.ArgumentStruct.LongField;
import org.tp4j.cuda.internal.arguments.ArgumentStruct.PointerField;
import org.tp4j.cuda.internal.arguments.ArgumentStruct.StepNumberField;
import org.tp4j.cuda.internal.arguments.ArgumentStruct.StridesField;
import org.tp4j.cuda.internal.capture.Capture;
import org.tp4j.cuda.internal.compile.CppText;
import org.tp4j.cuda.internal.memory.CudaStorage;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.StepNumber;

/**
 * The one struct each of our kernels takes, filled field by field. A launch that leaves a field out is refused; padding and
 * elements of an array that are not filled are zeros, not what an earlier launch had there. The launch copies the struct, so
 * that one buffer per thread serves every launch.
 */
public final class Arguments {
    private static final int DIVIDER_BYTES = 3 * Integer.BYTES;
    private static final ThreadLocal<Arguments> MINE = ThreadLocal.withInitial(Arguments::new);

    private final ByteBuffer buffer =
            ByteBuffer.allocateDirect(ArgumentStruct.MAX_BYTES).order(ByteOrder.nativeOrder());
    private final Pointer pointer = Pointer.to(Pointer.to(buffer));
    private @Nullable ArgumentStruct whole; // the kernel's argument
    private @Nullable ArgumentStruct struct; // being filled: the whole or an element
    private int base; // its offset
    private long filled; // marks of its fields
    private int dirty; // end of the bytes that earlier launches wrote

    private Arguments() {}

    /** The current thread's arguments, to be filled with the fields of a struct. */
    public static Arguments of(ArgumentStruct struct) {
        Arguments mine = MINE.get();
        mine.whole = struct;
        mine.begin(struct, 0);
        return mine;
    }

    private void begin(ArgumentStruct next, int at) {
        struct = next;
        base = at;
        filled = 0;
        for (int hole : next.padding()) {
            buffer.putInt(at + hole, 0);
        }
        if (next.bytesOfFields() < next.bytes()) {
            buffer.putInt(at + next.bytesOfFields(), 0);
        }
    }

    private int at(int offset, long mark) {
        filled |= mark;
        return base + offset;
    }

    /** Sets a pointer to an array's first element, or a null pointer for null. */
    public Arguments set(PointerField field, @Nullable NdArray array) {
        return set(field, array == null ? 0 : CudaStorage.addressOf(array));
    }

    /** Sets a pointer to an address. */
    public Arguments set(PointerField field, long address) {
        buffer.putLong(at(field.offset(), field.mark()), address);
        return this;
    }

    /** Sets a {@code long long}. */
    public Arguments set(LongField field, long value) {
        buffer.putLong(at(field.offset(), field.mark()), value);
        return this;
    }

    /** Sets an {@code int}. */
    public Arguments set(IntField field, int value) {
        buffer.putInt(at(field.offset(), field.mark()), value);
        return this;
    }

    /** Sets an {@code int} to 1 or 0. */
    public Arguments set(IntField field, boolean value) {
        return set(field, value ? 1 : 0);
    }

    /** Sets an {@code int} to a constant's code in kernels. */
    public Arguments set(IntField field, Enum<?> constant) {
        return set(field, CppText.code(constant));
    }

    /** Sets a {@code double}. */
    public Arguments set(DoubleField field, double value) {
        buffer.putDouble(at(field.offset(), field.mark()), value);
        return this;
    }

    /** Sets the address from which the kernel reads the number, or null and the number. */
    public Arguments set(StepNumberField field, StepNumber number) {
        int at = at(field.offset(), field.mark());
        buffer.putLong(at, number.varies() ? Capture.addressOf(number) : 0);
        buffer.putLong(at + Long.BYTES, number.bits());
        return this;
    }

    /** Sets the numbers a function takes besides its operands; the integers matter only for integer types. */
    public Arguments set(FactorsField field, double a, double b, long wholeA, long wholeB, boolean exact) {
        int at = at(field.offset(), field.mark());
        buffer.putDouble(at, a);
        buffer.putDouble(at + 8, b);
        buffer.putLong(at + 16, wholeA);
        buffer.putLong(at + 24, wholeB);
        buffer.putInt(at + 32, exact ? 1 : 0);
        buffer.putInt(at + 36, 0);
        return this;
    }

    /** Sets a divider for a divisor of 1 to 2^31 - 1. */
    public Arguments set(DividerField field, long divisor) {
        putDivider(at(field.offset(), field.mark()), divisor);
        return this;
    }

    /** Sets a box's sizes. */
    public Arguments set(BoxField field, StridedBox box) {
        int at = at(field.offset(), field.mark());
        buffer.putInt(at, box.dims());
        for (int d = 0; d < ArgumentStruct.MAX_DIMS; d++) {
            putDivider(at + Integer.BYTES + d * DIVIDER_BYTES, d < box.dims() ? box.size(d) : 1);
        }
        return this;
    }

    /** Sets the strides of the first arrays of a box. */
    public Arguments set(StridesField field, StridedBox box) {
        int at = at(field.offset(), field.mark());
        for (int k = 0; k < field.arrays(); k++) {
            for (int d = 0; d < ArgumentStruct.MAX_DIMS; d++, at += Long.BYTES) {
                buffer.putLong(at, d < box.dims() ? box.stride(k, d) : 0);
            }
        }
        return this;
    }

    /**
     * Writes a {@code Divider}: for n below 2^31, n / divisor = (high half of n * multiplier + n) &gt;&gt; shift, with shift =
     * ceil(log2 divisor) (Granlund and Montgomery, PLDI 1994).
     */
    private void putDivider(int at, long divisor) {
        int shift = Long.SIZE - Long.numberOfLeadingZeros(divisor - 1);
        long multiplier = ((1L << Integer.SIZE) * ((1L << shift) - divisor)) / divisor + 1;
        buffer.putInt(at, (int) divisor);
        buffer.putInt(at + 4, (int) multiplier);
        buffer.putInt(at + 8, shift);
    }

    /** Continues with element {@code index} of an array of structs; all fields before it must be set. */
    public <S extends ArgumentStruct> Arguments element(ArrayField<S> field, int index) {
        requireFilled();
        ArgumentStruct element = field.element();
        begin(element, field.offset() + index * element.bytes());
        return this;
    }

    /** The struct in memory, for tests. */
    ByteBuffer written(int bytes) {
        return buffer.duplicate().order(ByteOrder.nativeOrder()).limit(bytes);
    }

    /** The bytes passed to the launch. */
    Pointer pointer() {
        ArgumentStruct last = requireFilled();
        int bytes = Objects.requireNonNull(whole).bytes();
        int end = last == whole ? last.bytesBeforeArray() : base + last.bytes();
        for (int at = end; at < Math.min(dirty, bytes); at += Integer.BYTES) {
            buffer.putInt(at, 0);
        }
        dirty = dirty > bytes ? dirty : end;
        return pointer;
    }

    private ArgumentStruct requireFilled() {
        ArgumentStruct expected = Objects.requireNonNull(struct);
        if (filled != expected.marks()) {
            dirty = ArgumentStruct.MAX_BYTES; // the launch was abandoned
            throw new IllegalStateException(expected.missing(filled));
        }
        return expected;
    }
}
