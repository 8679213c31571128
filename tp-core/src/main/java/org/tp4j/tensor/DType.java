package org.tp4j.tensor;

import java.util.Locale;
import java.util.function.DoubleToLongFunction;
import java.util.function.LongToDoubleFunction;
import org.tp4j.tensor.internal.math.HalfFloats;

/**
 * Element types of tensors.
 *
 * <p>The 16-bit floats are stored as their bit patterns and computed in 32 bits; {@link #FLOAT64} exists for gradient
 * checks.
 */
public enum DType {
    /** IEEE 754 binary32, the default. */
    FLOAT32(
            4,
            Kind.FLOATING,
            "F32",
            "float",
            value -> Float.floatToRawIntBits((float) value),
            bits -> Float.intBitsToFloat((int) bits)),
    /** IEEE 754 binary64. */
    FLOAT64(8, Kind.FLOATING, "F64", "double", Double::doubleToRawLongBits, Double::longBitsToDouble),
    /** The upper 16 bits of a binary32. */
    BFLOAT16(
            2,
            Kind.FLOATING,
            "BF16",
            "bfloat16",
            value -> HalfFloats.floatToBfloat16((float) value),
            bits -> HalfFloats.bfloat16ToFloat((short) bits)),
    /** IEEE 754 binary16. */
    FLOAT16(
            2,
            Kind.FLOATING,
            "F16",
            "float16",
            value -> HalfFloats.floatToFloat16((float) value),
            bits -> HalfFloats.float16ToFloat((short) bits)),
    /** 32-bit two's complement integers. */
    INT32(4, Kind.INTEGER, "I32", "int", value -> (int) value, bits -> bits),
    /** 64-bit two's complement integers. */
    INT64(8, Kind.INTEGER, "I64", "int64", value -> (long) value, bits -> bits),
    /** Truth values, one byte each, 0 or 1. */
    BOOL(1, Kind.BOOLEAN, "BOOL", "bool8", value -> value != 0 ? 1 : 0, bits -> bits);

    private enum Kind {
        FLOATING,
        INTEGER,
        BOOLEAN
    }

    private final int bytes;
    private final Kind kind;
    private final String safetensorsName;
    private final String cudaName;
    private final DoubleToLongFunction encode;
    private final LongToDoubleFunction decode;
    private final String text;

    DType(
            int bytes,
            Kind kind,
            String safetensorsName,
            String cudaName,
            DoubleToLongFunction encode,
            LongToDoubleFunction decode) {
        this.bytes = bytes;
        this.kind = kind;
        this.safetensorsName = safetensorsName;
        this.cudaName = cudaName;
        this.encode = encode;
        this.decode = decode;
        this.text = name().toLowerCase(Locale.ROOT);
    }

    /** Bytes of one element. */
    public int bytes() {
        return bytes;
    }

    /** The name the safetensors format gives this type, such as {@code BF16}. */
    public String safetensorsName() {
        return safetensorsName;
    }

    /** The C++ type of an element in CUDA kernels. */
    public String cudaName() {
        return cudaName;
    }

    /** Whether elements are floating-point numbers, the only ones that can carry gradients. */
    public boolean isFloating() {
        return kind == Kind.FLOATING;
    }

    /** Whether elements are signed integers. */
    public boolean isInteger() {
        return kind == Kind.INTEGER;
    }

    /** Whether this is one of the 16-bit floats, which are computed in 32 bits. */
    public boolean isHalf() {
        return kind == Kind.FLOATING && bytes == 2;
    }

    /** The type in which sums over elements, statistics and optimizer state are held: at least 32 bits, 64 for integers. */
    public DType accumulator() {
        return kind != Kind.FLOATING ? INT64 : this == FLOAT64 ? FLOAT64 : FLOAT32;
    }

    /** The smallest floating type that holds every value of this one and of another: {@code FLOAT32} for two 16-bit types. */
    public DType wider(DType other) {
        if (this == other) {
            return this;
        }
        return bytes == other.bytes ? FLOAT32 : bytes > other.bytes ? this : other;
    }

    /**
     * The bits of the element nearest to a value: floats are rounded to even, integers truncated and saturated, and truth
     * values tell whether it is not 0. Types of less than 64 bits use the lowest bits, extended by the sign.
     */
    public long encode(double value) {
        return encode.applyAsLong(value);
    }

    /** The value of an element, given its bits as {@link #encode} returns them; 64-bit integers are rounded. */
    public double decode(long bits) {
        return decode.applyAsDouble(bits);
    }

    /** Lower-case name as printed in messages, such as {@code float32}. */
    @Override
    public String toString() {
        return text;
    }
}
