package org.tp4j.tests.cuda;

import static org.assertj.core.api.Assumptions.assumeThat;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.tp4j.cpu.CpuBackend;
import org.tp4j.cuda.CudaBackend;
import org.tp4j.cuda.CudaLibraries;
import org.tp4j.tensor.Backend;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.internal.math.HalfFloats;

/** A device to test on, simulated or real, and values moved between it and the host. */
public final class OnCuda {
    private OnCuda() {}

    /** Device 0; the test is skipped where there is neither a GPU nor a compiler for the simulator. */
    static CudaBackend device() {
        return device(0);
    }

    /** A device, or the test is skipped. */
    public static CudaBackend device(int index) {
        assumeThat(CudaLibraries.unavailable()).as("CUDA, real or simulated").isEmpty();
        assumeThat(index)
                .as("as many devices as the test needs")
                .isLessThan(CudaLibraries.load().deviceCount());
        return CudaBackend.of(index);
    }

    /** An array with these values. */
    static NdArray of(Backend backend, DType dtype, Shape shape, double... values) {
        NdArray array = NdArray.allocate(backend, dtype, shape);
        ByteBuffer bytes = ByteBuffer.allocate(values.length * dtype.bytes()).order(ByteOrder.LITTLE_ENDIAN);
        for (double value : values) {
            switch (dtype) {
                case FLOAT32 -> bytes.putFloat((float) value);
                case FLOAT64 -> bytes.putDouble(value);
                case BFLOAT16 -> bytes.putShort(HalfFloats.floatToBfloat16((float) value));
                case FLOAT16 -> bytes.putShort(HalfFloats.floatToFloat16((float) value));
                case INT32 -> bytes.putInt((int) value);
                case INT64 -> bytes.putLong((long) value);
                case BOOL -> bytes.put((byte) value);
            }
        }
        backend.copyIn(bytes.flip(), array);
        return array;
    }

    /** The same values on another backend. */
    static NdArray to(Backend backend, NdArray from) {
        NdArray to = NdArray.allocate(backend, from.dtype(), from.shape());
        ByteBuffer bytes = ByteBuffer.allocate(
                        (int) (from.elements() * from.dtype().bytes()))
                .order(ByteOrder.LITTLE_ENDIAN);
        from.backend().copyOut(from, bytes);
        backend.copyIn(bytes.rewind(), to);
        return to;
    }

    /** The values. */
    static double[] values(NdArray array) {
        ByteBuffer bytes = ByteBuffer.allocate(
                        (int) (array.elements() * array.dtype().bytes()))
                .order(ByteOrder.LITTLE_ENDIAN);
        array.backend().copyOut(array, bytes);
        bytes.rewind();
        double[] values = new double[(int) array.elements()];
        for (int i = 0; i < values.length; i++) {
            values[i] = switch (array.dtype()) {
                case FLOAT32 -> bytes.getFloat();
                case FLOAT64 -> bytes.getDouble();
                case BFLOAT16 -> HalfFloats.bfloat16ToFloat(bytes.getShort());
                case FLOAT16 -> HalfFloats.float16ToFloat(bytes.getShort());
                case INT32 -> bytes.getInt();
                case INT64 -> bytes.getLong();
                case BOOL -> bytes.get();
            };
        }
        return values;
    }

    /** The oracle. */
    static Backend cpu() {
        return CpuBackend.get();
    }
}
