package org.tp4j.cudasim;

import static jcuda.driver.JCudaDriver.*;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import jcuda.Pointer;
import jcuda.driver.CUcontext;
import jcuda.driver.CUdevice;
import jcuda.driver.CUdeviceptr;
import jcuda.driver.CUevent;
import jcuda.driver.CUfunction;
import jcuda.driver.CUmodule;
import jcuda.driver.CUresult;
import jcuda.driver.CUstream;
import org.tp4j.cuda.CudaLibraries;

/** One simulated device through JCuda's driver API, with the probe kernels loaded; closing it releases all it made. */
final class Device implements AutoCloseable {
    final int ordinal;
    final CUcontext context = new CUcontext();
    final CUmodule module = new CUmodule();
    private final CUcontext before = new CUcontext();
    private final List<CUdeviceptr> memory = new ArrayList<>();
    private final List<CUstream> streams = new ArrayList<>();
    private final List<CUevent> events = new ArrayList<>();
    private final List<Gate> gates = new ArrayList<>();

    /** The device becomes current on the calling thread until it is closed there. */
    Device(int ordinal) {
        CudaLibraries.load();
        this.ordinal = ordinal;
        check(cuInit(0));
        check(cuCtxGetCurrent(before));
        check(cuDevicePrimaryCtxRetain(context, deviceHandle()));
        makeCurrent();
        check(cuModuleLoadData(module, Nvrtc.probes()));
    }

    CUdevice deviceHandle() {
        CUdevice device = new CUdevice();
        check(cuDeviceGet(device, ordinal));
        return device;
    }

    void makeCurrent() {
        check(cuCtxSetCurrent(context));
    }

    /** The name of a status. */
    static String name(int status) {
        return CUresult.stringFor(status);
    }

    static void check(int status) {
        if (status != CUresult.CUDA_SUCCESS) {
            throw new IllegalStateException(name(status));
        }
    }

    CUstream stream() {
        return stream(1);
    }

    /** A stream with these flags; 1 is non-blocking. */
    CUstream stream(int flags) {
        CUstream stream = new CUstream();
        check(cuStreamCreate(stream, flags));
        streams.add(stream);
        return stream;
    }

    CUevent event() {
        CUevent event = new CUevent();
        check(cuEventCreate(event, 0));
        events.add(event);
        return event;
    }

    /** A gate that is shut. */
    Gate gate() {
        Gate gate = new Gate();
        gates.add(gate);
        return gate;
    }

    CUdeviceptr allocate(long bytes) {
        CUdeviceptr address = new CUdeviceptr();
        check(cuMemAlloc(address, bytes));
        memory.add(address);
        return address;
    }

    CUdeviceptr floats(float... values) {
        CUdeviceptr address = allocate(4L * values.length);
        check(cuMemcpyHtoD(address, Pointer.to(values), 4L * values.length));
        return address;
    }

    /** What the memory holds now, whatever streams are still to do. */
    static float[] read(CUdeviceptr address, int count) {
        float[] values = new float[count];
        check(cuMemcpyDtoH(Pointer.to(values), address, 4L * count));
        return values;
    }

    CUfunction function(String name) {
        CUfunction function = new CUfunction();
        check(cuModuleGetFunction(function, module, name));
        return function;
    }

    /** Launches a probe with the fields of its one struct. */
    int launch(String name, int blocks, int threads, int sharedBytes, CUstream stream, Object... fields) {
        return launch(function(name), blocks, threads, sharedBytes, stream, fields);
    }

    static int launch(
            CUfunction function, int blocks, int threads, int sharedBytes, CUstream stream, Object... fields) {
        ByteBuffer struct = ByteBuffer.allocateDirect(64).order(ByteOrder.nativeOrder());
        for (Object field : fields) {
            if (field instanceof CUdeviceptr address) {
                struct.putLong(addressOf(address));
            } else if (field instanceof Long number) {
                struct.putLong(number);
            } else if (field instanceof Integer number) {
                struct.putInt(number);
            } else {
                struct.putFloat((Float) field);
            }
        }
        Pointer arguments = Pointer.to(Pointer.to(struct));
        return cuLaunchKernel(function, blocks, 1, 1, threads, 1, 1, sharedBytes, stream, arguments, null);
    }

    /** The address in a pointer: JCuda shows it only as the bytes of a launch argument. */
    static long addressOf(CUdeviceptr pointer) {
        return new Address(pointer).value();
    }

    /** y = factor * x. */
    int scale(CUdeviceptr x, CUdeviceptr y, long n, float factor, CUstream stream) {
        return launch("scale", 1, 32, 0, stream, x, y, n, factor);
    }

    /** The same once the gate is open: until then the stream stands still. */
    int scaleHeld(CUdeviceptr x, CUdeviceptr y, long n, float factor, CUstream stream, Gate gate) {
        return launch("scaleHeld", 1, 1, 0, stream, x, y, n, factor, 0, gate.address);
    }

    /** The same, much later: for proofs that somebody waits, which need no certainty of who would come first. */
    int scaleLate(CUdeviceptr x, CUdeviceptr y, long n, float factor, CUstream stream) {
        return launch("scaleLate", 1, 1, 0, stream, x, y, n, factor);
    }

    @Override
    public void close() {
        makeCurrent();
        gates.forEach(Gate::open);
        cuCtxSynchronize();
        gates.forEach(gate -> check(cuMemFreeHost(gate.pinned)));
        events.forEach(event -> check(cuEventDestroy(event)));
        streams.forEach(stream -> check(cuStreamDestroy(stream)));
        memory.forEach(address -> check(cuMemFree(address)));
        check(cuModuleUnload(module));
        check(cuDevicePrimaryCtxRelease(deviceHandle()));
        check(cuCtxSetCurrent(before)); // the library's own tests on this thread count on it
    }

    /** Pinned memory that a held kernel reads until it is not zero; the host opens it, or work on another stream. */
    static final class Gate {
        final Pointer pinned = new Pointer();
        final CUdeviceptr address = new CUdeviceptr();
        private final ByteBuffer value;

        private Gate() {
            check(cuMemHostAlloc(pinned, Float.BYTES, 0));
            check(cuMemHostGetDevicePointer(address, pinned, 0));
            value = pinned.getByteBuffer(0, Float.BYTES).order(ByteOrder.nativeOrder());
            value.putFloat(0, 0);
        }

        void open() {
            value.putFloat(0, 1);
        }
    }

    private static final class Address extends CUdeviceptr {
        Address(CUdeviceptr other) {
            super(other);
        }

        long value() {
            return getNativePointer() + getByteOffset();
        }
    }
}
