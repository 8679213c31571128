package org.tp4j.nccl;

/** NCCL's {@code ncclDataType_t}. */
public final class NcclDataType {
    /** 8-bit signed integers. */
    public static final int ncclInt8 = 0;

    /** Same as {@link #ncclInt8}. */
    public static final int ncclChar = 0;

    /** 8-bit unsigned integers. */
    public static final int ncclUint8 = 1;

    /** 32-bit signed integers. */
    public static final int ncclInt32 = 2;

    /** Same as {@link #ncclInt32}. */
    public static final int ncclInt = 2;

    /** 32-bit unsigned integers. */
    public static final int ncclUint32 = 3;

    /** 64-bit signed integers. */
    public static final int ncclInt64 = 4;

    /** 64-bit unsigned integers. */
    public static final int ncclUint64 = 5;

    /** IEEE 754 binary16. */
    public static final int ncclFloat16 = 6;

    /** Same as {@link #ncclFloat16}. */
    public static final int ncclHalf = 6;

    /** IEEE 754 binary32. */
    public static final int ncclFloat32 = 7;

    /** Same as {@link #ncclFloat32}. */
    public static final int ncclFloat = 7;

    /** IEEE 754 binary64. */
    public static final int ncclFloat64 = 8;

    /** Same as {@link #ncclFloat64}. */
    public static final int ncclDouble = 8;

    /** The upper 16 bits of a binary32. */
    public static final int ncclBfloat16 = 9;

    /** 8-bit floats, 4 bits of exponent and 3 of mantissa; since NCCL 2.24. */
    public static final int ncclFloat8e4m3 = 10;

    /** 8-bit floats, 5 bits of exponent and 2 of mantissa; since NCCL 2.24. */
    public static final int ncclFloat8e5m2 = 11;

    private static final int[] BYTES = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};

    private NcclDataType() {}

    /**
     * Bytes of one element.
     *
     * @throws IllegalArgumentException if it is not one of the types
     */
    public static int bytes(int dataType) {
        if (dataType < 0 || dataType >= BYTES.length) {
            throw new IllegalArgumentException(
                    "unknown data type " + dataType + "; HINT: use a constant of NcclDataType");
        }
        return BYTES[dataType];
    }
}
