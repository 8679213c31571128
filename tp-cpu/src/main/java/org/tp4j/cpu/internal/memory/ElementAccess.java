package org.tp4j.cpu.internal.memory;

import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.internal.math.HalfFloats;

/**
 * The elements of an array seen one at a time as doubles or longs, whatever their type: what the reference kernels are
 * written with. Rounding to the type happens in {@code set}.
 */
public abstract class ElementAccess {
    final int offset;

    private ElementAccess(NdArray array) {
        this.offset = (int) array.offset();
    }

    /** The elements of a window. */
    public static ElementAccess of(NdArray array) {
        HostStorage storage = (HostStorage) array.storage();
        return switch (array.dtype()) {
            case FLOAT32 -> new Float32(array, storage.floats());
            case FLOAT64 -> new Float64(array, storage.doubles());
            case BFLOAT16 -> new BFloat16(array, storage.shorts());
            case FLOAT16 -> new Float16(array, storage.shorts());
            case INT32 -> new Int32(array, storage.ints());
            case INT64 -> new Int64(array, storage.longs());
            case BOOL -> new Bool(array, storage.booleans());
        };
    }

    /** Element i of the window. */
    public abstract double get(long i);

    /** Stores {@code value} in element i: floats rounded to nearest even, integers truncated and saturated. */
    public abstract void set(long i, double value);

    /** Element i as an integer. */
    public long getLong(long i) {
        return (long) get(i);
    }

    /** Sets element i from an integer. */
    public void setLong(long i, long value) {
        set(i, value);
    }

    private static final class Float32 extends ElementAccess {
        private final float[] data;

        Float32(NdArray array, float[] data) {
            super(array);
            this.data = data;
        }

        @Override
        public double get(long i) {
            return data[offset + (int) i];
        }

        @Override
        public void set(long i, double value) {
            data[offset + (int) i] = (float) value;
        }

        @Override
        public void setLong(long i, long value) {
            data[offset + (int) i] = (float) value;
        }
    }

    private static final class Float64 extends ElementAccess {
        private final double[] data;

        Float64(NdArray array, double[] data) {
            super(array);
            this.data = data;
        }

        @Override
        public double get(long i) {
            return data[offset + (int) i];
        }

        @Override
        public void set(long i, double value) {
            data[offset + (int) i] = value;
        }
    }

    private static final class BFloat16 extends ElementAccess {
        private final short[] data;

        BFloat16(NdArray array, short[] data) {
            super(array);
            this.data = data;
        }

        @Override
        public double get(long i) {
            return HalfFloats.bfloat16ToFloat(data[offset + (int) i]);
        }

        @Override
        public void set(long i, double value) {
            data[offset + (int) i] = HalfFloats.floatToBfloat16((float) value);
        }
    }

    private static final class Float16 extends ElementAccess {
        private final short[] data;

        Float16(NdArray array, short[] data) {
            super(array);
            this.data = data;
        }

        @Override
        public double get(long i) {
            return HalfFloats.float16ToFloat(data[offset + (int) i]);
        }

        @Override
        public void set(long i, double value) {
            data[offset + (int) i] = HalfFloats.floatToFloat16((float) value);
        }
    }

    private static final class Int32 extends ElementAccess {
        private final int[] data;

        Int32(NdArray array, int[] data) {
            super(array);
            this.data = data;
        }

        @Override
        public double get(long i) {
            return data[offset + (int) i];
        }

        @Override
        public void set(long i, double value) {
            data[offset + (int) i] = (int) value;
        }

        @Override
        public long getLong(long i) {
            return data[offset + (int) i];
        }

        @Override
        public void setLong(long i, long value) {
            data[offset + (int) i] = (int) value;
        }
    }

    private static final class Int64 extends ElementAccess {
        private final long[] data;

        Int64(NdArray array, long[] data) {
            super(array);
            this.data = data;
        }

        @Override
        public double get(long i) {
            return data[offset + (int) i];
        }

        @Override
        public void set(long i, double value) {
            data[offset + (int) i] = (long) value;
        }

        @Override
        public long getLong(long i) {
            return data[offset + (int) i];
        }

        @Override
        public void setLong(long i, long value) {
            data[offset + (int) i] = value;
        }
    }

    private static final class Bool extends ElementAccess {
        private final byte[] data;

        Bool(NdArray array, byte[] data) {
            super(array);
            this.data = data;
        }

        @Override
        public double get(long i) {
            return data[offset + (int) i];
        }

        @Override
        public void set(long i, double value) {
            data[offset + (int) i] = (byte) (value != 0 ? 1 : 0);
        }
    }
}
