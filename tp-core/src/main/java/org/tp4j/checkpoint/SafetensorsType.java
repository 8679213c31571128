package org.tp4j.checkpoint;

import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.Shape;

/**
 * Element types of the safetensors format, by its names, in the reference implementation's order (by
 * alignment, smallest first).
 *
 * <p>Those with a {@link #dtype()} can be read as tensors; the bytes of the others can only be read, checked and written.
 */
public enum SafetensorsType {
    /** Truth values, one byte each. */
    BOOL(8, DType.BOOL),
    /** 4-bit floats, two per byte. */
    F4(4),
    /** 6-bit floats, 2 bits of exponent, packed. */
    F6_E2M3(6),
    /** 6-bit floats, 3 bits of exponent, packed. */
    F6_E3M2(6),
    /** Unsigned 8-bit integers. */
    U8(8),
    /** Signed 8-bit integers. */
    I8(8),
    /** 8-bit floats, 5 bits of exponent. */
    F8_E5M2(8),
    /** 8-bit floats, 4 bits of exponent. */
    F8_E4M3(8),
    /** Powers of two, the scales of microscaling formats. */
    F8_E8M0(8),
    /** 8-bit floats, 4 bits of exponent, without infinities and negative zero. */
    F8_E4M3FNUZ(8),
    /** 8-bit floats, 5 bits of exponent, without infinities and negative zero. */
    F8_E5M2FNUZ(8),
    /** Signed 16-bit integers. */
    I16(16),
    /** Unsigned 16-bit integers. */
    U16(16),
    /** IEEE 754 binary16. */
    F16(16, DType.FLOAT16),
    /** The upper half of a binary32. */
    BF16(16, DType.BFLOAT16),
    /** Signed 32-bit integers. */
    I32(32, DType.INT32),
    /** Unsigned 32-bit integers. */
    U32(32),
    /** IEEE 754 binary32. */
    F32(32, DType.FLOAT32),
    /** Complex numbers of two binary32. */
    C64(64),
    /** IEEE 754 binary64. */
    F64(64, DType.FLOAT64),
    /** Signed 64-bit integers. */
    I64(64, DType.INT64),
    /** Unsigned 64-bit integers. */
    U64(64);

    private static final Map<String, SafetensorsType> BY_NAME =
            Arrays.stream(values()).collect(Collectors.toUnmodifiableMap(SafetensorsType::name, type -> type));

    private final int bits;
    private final Optional<DType> dtype;

    SafetensorsType(int bits) {
        this.bits = bits;
        this.dtype = Optional.empty();
    }

    SafetensorsType(int bits, DType dtype) {
        this.bits = bits;
        this.dtype = Optional.of(dtype);
    }

    /** The type of a name in a file's header; empty if the format has none of that name. */
    public static Optional<SafetensorsType> of(String name) {
        return Optional.ofNullable(BY_NAME.get(name));
    }

    /** The type that stores tensors of {@code dtype}. */
    public static SafetensorsType of(DType dtype) {
        return valueOf(dtype.safetensorsName());
    }

    /** Bits of one element; types below 8 bits are packed. */
    public int bits() {
        return bits;
    }

    /** The tensor type these elements are read as; empty if the library has none. */
    public Optional<DType> dtype() {
        return dtype;
    }

    /**
     * Bytes of a tensor of this type.
     *
     * @throws IllegalArgumentException if they exceed 2^63 - 1, or packed elements do not fill whole bytes
     */
    public long bytes(Shape shape) {
        long elements = shape.elements();
        if (bits >= 8) {
            int bytes = bits / 8;
            if (elements > Long.MAX_VALUE / bytes) {
                throw new IllegalArgumentException("shape " + shape + " of " + this + " has more than 2^63 - 1 bytes");
            }
            return elements * bytes;
        }
        if (elements > Long.MAX_VALUE / bits) {
            throw new IllegalArgumentException("shape " + shape + " of " + this + " has more than 2^63 - 1 bits");
        }
        if (elements * bits % 8 != 0) {
            throw new IllegalArgumentException("shape " + shape + " of " + this + " has " + elements * bits
                    + " bits, which is not a whole number of bytes");
        }
        return elements * bits / 8;
    }
}
