package org.tp4j.cuda.internal.arguments;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * A kernel argument struct, described once. The subclass declares its fields in order; both the struct's C++ text and the
 * offsets at which a launch writes are derived from them, so the two cannot disagree. The text asserts every offset.
 *
 * <p>Offsets follow C's rule: a field starts at the next multiple of its alignment, and the size is a multiple of the largest
 * alignment.
 */
public abstract class ArgumentStruct {
    /** The maximum size of a kernel's arguments. */
    public static final int MAX_BYTES = 4096;

    /** The maximum number of dimensions a kernel takes, after merging. */
    public static final int MAX_DIMS = 8;

    private static final int DIVIDER_BYTES = 3 * Integer.BYTES;

    private final String name;
    private final StringBuilder members = new StringBuilder();
    private final StringBuilder asserts = new StringBuilder();
    private int[] padding = {}; // 4 bytes each
    private int end;
    private int arrayAt = -1; // offset of the trailing array
    private int alignment = 1;
    private final List<String> fields = new ArrayList<>(); // the ones every launch must set

    /** Offset of a pointer. {@code mark} is the field's bit in the mask of fields that every launch must set. */
    public record PointerField(int offset, long mark) {}

    /** Offset of a {@code long long}. */
    public record LongField(int offset, long mark) {}

    /** Offset of an {@code int}. */
    public record IntField(int offset, long mark) {}

    /** Offset of a {@code double}. */
    public record DoubleField(int offset, long mark) {}

    /** Offset of a {@code StepNumber}: a pointer, or null, and the number. */
    public record StepNumberField(int offset, long mark) {}

    /** Offset of a {@code Divider}. */
    public record DividerField(int offset, long mark) {}

    /** Offset of a {@code Box}: the number of dimensions and {@link #MAX_DIMS} dividers. */
    public record BoxField(int offset, long mark) {}

    /** Offset of {@code Factors}: two numbers as floats, the same as integers, and whether the first is an integer. */
    public record FactorsField(int offset, long mark) {}

    /** Offset of the strides of {@code arrays} arrays, {@link #MAX_DIMS} each. */
    public record StridesField(int offset, long mark, int arrays) {}

    /** Offset of an array of structs, the last field of a struct. */
    public record ArrayField<S extends ArgumentStruct>(int offset, S element, int capacity) {}

    /** @param name the struct's name in C++ */
    protected ArgumentStruct(String name) {
        this.name = name;
    }

    /** {@code pointee* name;}. */
    protected final PointerField pointer(String pointee, String field) {
        return new PointerField(place(pointee + "* " + field, field, Long.BYTES, Long.BYTES), mark(field));
    }

    /** {@code int64 name;}. */
    protected final LongField int64(String field) {
        return new LongField(place("int64 " + field, field, Long.BYTES, Long.BYTES), mark(field));
    }

    /** {@code int name;}. */
    protected final IntField int32(String field) {
        return new IntField(place("int " + field, field, Integer.BYTES, Integer.BYTES), mark(field));
    }

    /** {@code double name;}. */
    protected final DoubleField float64(String field) {
        return new DoubleField(place("double " + field, field, Double.BYTES, Double.BYTES), mark(field));
    }

    /** {@code StepNumber name;}. */
    protected final StepNumberField stepNumber(String field) {
        return new StepNumberField(place("StepNumber " + field, field, 2 * Long.BYTES, Long.BYTES), mark(field));
    }

    /** {@code Divider name;}. */
    protected final DividerField divider(String field) {
        return new DividerField(place("Divider " + field, field, DIVIDER_BYTES, Integer.BYTES), mark(field));
    }

    /** {@code Box name;}. */
    protected final BoxField box(String field) {
        int bytes = Integer.BYTES + MAX_DIMS * DIVIDER_BYTES;
        return new BoxField(place("Box " + field, field, bytes, Integer.BYTES), mark(field));
    }

    /** {@code Factors name;}. */
    protected final FactorsField factors(String field) {
        return new FactorsField(place("Factors " + field, field, 5 * Long.BYTES, Long.BYTES), mark(field));
    }

    /** {@code int64 name[arrays][MAX_DIMS];}. */
    protected final StridesField strides(String field, int arrays) {
        String member = "int64 " + field + "[" + arrays + "][MAX_DIMS]";
        return new StridesField(place(member, field, arrays * MAX_DIMS * Long.BYTES, Long.BYTES), mark(field), arrays);
    }

    /** {@code Element name[capacity];}, which must be the last field. */
    protected final <S extends ArgumentStruct> ArrayField<S> array(String field, S element, int capacity) {
        ArgumentStruct struct = element;
        String member = struct.name + " " + field + "[" + capacity + "]";
        arrayAt = place(member, field, capacity * struct.bytes(), struct.alignment);
        return new ArrayField<>(arrayAt, element, capacity);
    }

    private void addPadding(int at) {
        padding = Arrays.copyOf(padding, padding.length + 1);
        padding[padding.length - 1] = at;
    }

    /** Offsets of the padding between fields, 4 bytes each. */
    public final int[] padding() {
        return padding;
    }

    /** The end of the last field, in bytes. */
    public final int bytesOfFields() {
        return end;
    }

    /** The bytes before the array; all bytes if there is none. */
    public final int bytesBeforeArray() {
        return arrayAt < 0 ? bytes() : arrayAt;
    }

    private int place(String member, String field, int bytes, int fieldAlignment) {
        int at = roundUp(end, fieldAlignment);
        if (at > end) {
            addPadding(end);
        }
        end = at + bytes;
        alignment = Math.max(alignment, fieldAlignment);
        if (end > MAX_BYTES) {
            throw new IllegalStateException(name + "." + field + " ends at byte " + end + ", a kernel takes at most "
                    + MAX_BYTES + " bytes of arguments; HINT: pass a pointer to memory of the device");
        }
        members.append("    ").append(member).append(";\n");
        asserts.append("static_assert(__builtin_offsetof(")
                .append(name)
                .append(", ")
                .append(field)
                .append(") == ")
                .append(at)
                .append(", \"\");\n");
        return at;
    }

    private long mark(String field) {
        fields.add(field);
        return 1L << (fields.size() - 1);
    }

    private static int roundUp(int n, int multiple) {
        return (n + multiple - 1) / multiple * multiple;
    }

    /** The struct's name in C++. */
    public final String name() {
        return name;
    }

    /** The struct's size. */
    public final int bytes() {
        return roundUp(end, alignment);
    }

    /** The marks of all fields except the array. */
    public final long marks() {
        return (1L << fields.size()) - 1;
    }

    /** The message that names the fields a launch did not set, given the marks of the fields it set. */
    public final String missing(long filled) {
        List<String> missing = new ArrayList<>();
        for (int i = 0; i < fields.size(); i++) {
            if ((filled & 1L << i) == 0) {
                missing.add(fields.get(i));
            }
        }
        return "a launch with " + name + " does not set " + String.join(", ", missing)
                + "; HINT: Arguments.of(struct) is followed by a set of each field";
    }

    /** The struct in C++, with assertions that the compiler lays it out as described here. */
    public final String cpp() {
        return "struct " + name + " {\n" + members + "};\n"
                + "#ifndef __CUDACC_RTC__ // NVRTC has no offsetof\n" + asserts + "#endif\n"
                + "static_assert(sizeof(" + name + ") == " + bytes() + ", \"\");\n";
    }
}
