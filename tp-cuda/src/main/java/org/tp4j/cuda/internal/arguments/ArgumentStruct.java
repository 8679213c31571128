package org.tp4j.cuda.internal.arguments;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * A struct that kernels take, described once. The subclass declares its fields in order; the C++ text of the struct follows
 * from them, and so do the offsets at which a launch writes, so that the two cannot disagree. The text asserts every offset.
 *
 * <p>Offsets follow the rule of C: a field lies at the next multiple of its alignment, the size is a multiple of the largest
 * alignment.
 */
public abstract class ArgumentStruct {
    /** The most bytes that CUDA passes to a kernel. */
    public static final int MAX_BYTES = 4096;

    /** The most dimensions a kernel takes, after merging. */
    public static final int MAX_DIMS = 8;

    private static final int DIVIDER_BYTES = 3 * Integer.BYTES;

    private final String name;
    private final StringBuilder members = new StringBuilder();
    private final StringBuilder asserts = new StringBuilder();
    private int[] padding = {}; // 4 bytes each
    private int end;
    private int arrayAt = -1; // where an array begins
    private int alignment = 1;
    private final List<String> fields = new ArrayList<>(); // those that every launch must set

    /** Where a pointer lies. {@code mark} is the field's bit among those that every launch must set. */
    public record PointerField(int offset, long mark) {}

    /** Where a {@code long long} lies. */
    public record LongField(int offset, long mark) {}

    /** Where an {@code int} lies. */
    public record IntField(int offset, long mark) {}

    /** Where a {@code double} lies. */
    public record DoubleField(int offset, long mark) {}

    /** Where a {@code StepNumber} lies: a pointer, or null, and the number. */
    public record StepNumberField(int offset, long mark) {}

    /** Where a {@code Divider} lies. */
    public record DividerField(int offset, long mark) {}

    /** Where a {@code Box} lies: the number of dimensions and {@link #MAX_DIMS} dividers. */
    public record BoxField(int offset, long mark) {}

    /** Where {@code Factors} lie: two numbers as floats, the same as integers, and whether the first is an integer. */
    public record FactorsField(int offset, long mark) {}

    /** Where the strides of {@code arrays} arrays lie, {@link #MAX_DIMS} for each. */
    public record StridesField(int offset, long mark, int arrays) {}

    /** Where an array of structs begins, the last field of a struct. */
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

    /** Where there is padding between fields, 4 bytes each. */
    public final int[] padding() {
        return padding;
    }

    /** The bytes up to the end of the last field. */
    public final int bytesOfFields() {
        return end;
    }

    /** The bytes before an array, all bytes if there is none. */
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

    /** The marks of all fields but an array. */
    public final long marks() {
        return (1L << fields.size()) - 1;
    }

    /** Says which fields a launch left out, given the marks of those it set. */
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

    /** The struct in C++, with what asserts that the compiler lays it out as described here. */
    public final String cpp() {
        return "struct " + name + " {\n" + members + "};\n"
                + "#ifndef __CUDACC_RTC__ // NVRTC has no offsetof\n" + asserts + "#endif\n"
                + "static_assert(sizeof(" + name + ") == " + bytes() + ", \"\");\n";
    }
}
