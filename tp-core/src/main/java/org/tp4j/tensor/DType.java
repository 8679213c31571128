package org.tp4j.tensor;

/**
 * Element types of tensors.
 *
 * <p>The 16-bit floats are stored as their bit patterns and computed in 32 bits; {@link #FLOAT64} exists for gradient
 * checks.
 */
public enum DType {
    /** IEEE 754 binary32, the default. */
    FLOAT32(4, "F32", "float", Kind.FLOATING),
    /** IEEE 754 binary64. */
    FLOAT64(8, "F64", "double", Kind.FLOATING),
    /** The upper 16 bits of a binary32. */
    BFLOAT16(2, "BF16", "bfloat16", Kind.FLOATING),
    /** IEEE 754 binary16. */
    FLOAT16(2, "F16", "float16", Kind.FLOATING),
    /** 32-bit two's complement integers. */
    INT32(4, "I32", "int", Kind.INTEGER),
    /** 64-bit two's complement integers. */
    INT64(8, "I64", "int64", Kind.INTEGER),
    /** Truth values, one byte each, 0 or 1. */
    BOOL(1, "BOOL", "bool8", Kind.BOOLEAN);

    private enum Kind {
        FLOATING,
        INTEGER,
        BOOLEAN
    }

    private final int bytes;
    private final String safetensorsName;
    private final String cudaName;
    private final Kind kind;

    DType(int bytes, String safetensorsName, String cudaName, Kind kind) {
        this.bytes = bytes;
        this.safetensorsName = safetensorsName;
        this.cudaName = cudaName;
        this.kind = kind;
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
        return this == BFLOAT16 || this == FLOAT16;
    }

    /** Lower-case name as printed in messages, such as {@code float32}. */
    @Override
    public String toString() {
        return name().toLowerCase(java.util.Locale.ROOT);
    }
}
