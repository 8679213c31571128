package org.tp4j.cudasim;

import static jcuda.driver.JCudaDriver.*;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import jcuda.Pointer;
import jcuda.driver.CUdeviceptr;
import jcuda.driver.CUmemorytype;
import jcuda.driver.CUpointer_attribute;
import jcuda.driver.CUresult;
import jcuda.driver.CUstream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class SimulatorMemoryTest {
    private Device device;

    @BeforeEach
    void open() {
        SimulatorProcess.assumeSimulator();
        device = new Device(2);
    }

    @AfterEach
    void close() {
        if (device != null) {
            device.close();
        }
    }

    @Test
    void newMemoryIsNaN() {
        assertThat(Device.read(device.allocate(4000), 1000)).containsOnly(Float.NaN);
    }

    @Test
    void copiesStayInsideOneAllocation() {
        CUdeviceptr y = device.allocate(64);
        device.allocate(64);
        assertThat(cuMemcpyHtoD(y, Pointer.to(new float[16]), 64)).isEqualTo(CUresult.CUDA_SUCCESS);
        assertThat(cuMemcpyHtoD(y, Pointer.to(new float[17]), 68)).isEqualTo(CUresult.CUDA_ERROR_INVALID_VALUE);
        assertThat(cuMemcpyDtoH(Pointer.to(new float[16]), y.withByteOffset(4), 64))
                .isEqualTo(CUresult.CUDA_ERROR_INVALID_VALUE);
        assertThat(cuMemsetD32(y.withByteOffset(32), 0, 9)).isEqualTo(CUresult.CUDA_ERROR_INVALID_VALUE);
        assertThat(cuMemcpyDtoD(y, y.withByteOffset(8), 16)).isEqualTo(CUresult.CUDA_ERROR_INVALID_VALUE);
    }

    @Test
    void freedMemoryIsGone() {
        CUdeviceptr freed = new CUdeviceptr();
        Device.check(cuMemAlloc(freed, 64));
        Device.check(cuMemFree(freed));
        assertThat(cuMemFree(freed)).isEqualTo(CUresult.CUDA_ERROR_INVALID_VALUE);
        assertThat(cuMemcpyDtoH(Pointer.to(new float[16]), freed, 64)).isEqualTo(CUresult.CUDA_ERROR_INVALID_VALUE);
        CUdeviceptr y = device.allocate(64);
        assertThat(device.scale(freed, y, 16, 1, null)).isEqualTo(CUresult.CUDA_ERROR_INVALID_VALUE);
        assertThat(cuMemFree(y.withByteOffset(4))).isEqualTo(CUresult.CUDA_ERROR_INVALID_VALUE);
    }

    @Test
    void freeingWaitsForTheDevice() {
        CUdeviceptr x = device.floats(1, 2, 3, 4);
        CUdeviceptr y = new CUdeviceptr();
        Device.check(cuMemAlloc(y, 16));
        Device.check(device.scaleLate(x, y, 4, 2, device.stream()));
        Device.check(cuMemFree(y));
        assertThat(cuCtxSynchronize()).isEqualTo(CUresult.CUDA_SUCCESS);
    }

    @Test
    void aDeviceHasALimit() {
        long[] free = new long[1];
        long[] total = new long[1];
        Device.check(cuMemGetInfo(free, total));
        assertThat(cuMemAlloc(new CUdeviceptr(), free[0] + 1)).isEqualTo(CUresult.CUDA_ERROR_OUT_OF_MEMORY);
        device.allocate(1 << 20);
        long before = free[0];
        Device.check(cuMemGetInfo(free, total));
        assertThat(free[0]).isEqualTo(before - (1 << 20));
    }

    /** The driver copies pageable memory aside, and comes back from a copy into it only when the values are there. */
    @Test
    void pageableCopiesBehaveAsTheDriver() {
        CUstream stream = device.stream();
        CUdeviceptr x = device.floats(1, 2, 3, 4);
        CUdeviceptr y = device.allocate(16);
        float[] values = {5, 6, 7, 8};
        Device.check(device.scaleLate(x, y, 4, 1, stream));
        Device.check(cuMemcpyHtoDAsync(y, Pointer.to(values), 16, stream));
        java.util.Arrays.fill(values, 0);
        float[] read = new float[4];
        Device.check(cuMemcpyDtoHAsync(Pointer.to(read), y, 16, stream));
        assertThat(read).containsExactly(5, 6, 7, 8);
    }

    @Test
    void pinnedCopiesAreAsynchronous() {
        CUstream stream = device.stream();
        CUdeviceptr x = device.floats(1, 2, 3, 4);
        CUdeviceptr y = device.allocate(16);
        Pointer pinned = new Pointer();
        Device.check(cuMemHostAlloc(pinned, 16, 0));
        java.nio.FloatBuffer values = pinned.getByteBuffer(0, 16)
                .order(java.nio.ByteOrder.nativeOrder())
                .asFloatBuffer();
        Device.Gate gate = device.gate();
        Device.check(device.scaleHeld(x, y, 4, 3, stream, gate));
        Device.check(cuMemcpyDtoHAsync(pinned, y, 16, stream));
        assertThat(values.get(3)).as("before the stream came to the copy").isNaN();
        gate.open();
        Device.check(cuStreamSynchronize(stream));
        assertThat(values.get(3)).isEqualTo(12);
        Device.check(cuMemFreeHost(pinned));
    }

    @Test
    void pointersKnowWhatTheyAre() {
        CUdeviceptr y = device.allocate(64);
        int[] value = new int[1];
        Device.check(cuPointerGetAttribute(
                Pointer.to(value), CUpointer_attribute.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, y.withByteOffset(8)));
        assertThat(value[0]).isEqualTo(2);
        Device.check(cuPointerGetAttribute(Pointer.to(value), CUpointer_attribute.CU_POINTER_ATTRIBUTE_MEMORY_TYPE, y));
        assertThat(value[0]).isEqualTo(CUmemorytype.CU_MEMORYTYPE_DEVICE);
    }

    @Test
    void streamOrderedMemoryOpensInItsStream() {
        SimulatorProcess.Result result = SimulatorProcess.run(Map.of(), "opened-late");
        assertThat(result.output()).contains("synchronize=CUDA_ERROR_ILLEGAL_ADDRESS");
        CUstream stream = device.stream();
        CUdeviceptr x = device.floats(1, 2);
        CUdeviceptr y = new CUdeviceptr();
        Device.check(cuMemAllocAsync(y, 8, stream));
        Device.check(device.scale(x, y, 2, 2, stream));
        Device.check(cuStreamSynchronize(stream));
        assertThat(Device.read(y, 2)).containsExactly(2, 4);
        Device.check(cuMemFreeAsync(y, stream));
    }

    @Test
    void refusalsSayWhatWasWrong() {
        String output = SimulatorProcess.run(Map.of(), "messages").output();
        assertThat(output)
                .contains("is an address on device 1, the kernel runs on device 0")
                .contains("is an address in memory that was freed")
                .contains("block (65,1,1) is out of range (at most 64 threads a block)")
                .contains("60000 bytes of dynamic shared memory asked, 49152 allowed")
                .contains("68 bytes at")
                .contains("run past the allocation of 64 bytes")
                .contains("is not the start of an allocation (freed already)");
    }
}
