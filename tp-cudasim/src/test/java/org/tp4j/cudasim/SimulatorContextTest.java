package org.tp4j.cudasim;

import static jcuda.driver.JCudaDriver.*;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import jcuda.Pointer;
import jcuda.driver.CUdeviceptr;
import jcuda.driver.CUevent;
import jcuda.driver.CUresult;
import jcuda.driver.CUstream;
import org.junit.jupiter.api.Test;

class SimulatorContextTest {
    @Test
    void workBelongsToTheCurrentContext() {
        SimulatorProcess.assumeSimulator();
        try (Device two = new Device(2);
                Device three = new Device(3)) {
            CUdeviceptr ofThree = three.floats(1, 2, 3, 4);
            CUstream streamOfThree = three.stream();
            two.makeCurrent();
            CUdeviceptr ofTwo = two.floats(1, 2, 3, 4);
            CUstream streamOfTwo = two.stream();
            CUevent eventOfTwo = two.event();

            assertThat(two.scale(ofTwo, ofTwo, 4, 1, streamOfThree)).isEqualTo(CUresult.CUDA_ERROR_INVALID_HANDLE);
            assertThat(two.scale(ofThree, ofTwo, 4, 1, streamOfTwo)).isEqualTo(CUresult.CUDA_ERROR_INVALID_VALUE);
            assertThat(cuMemcpyHtoD(ofThree, Pointer.to(new float[4]), 16))
                    .isEqualTo(CUresult.CUDA_ERROR_INVALID_VALUE);
            assertThat(cuMemsetD32Async(ofThree, 0, 4, streamOfThree)).isEqualTo(CUresult.CUDA_ERROR_INVALID_HANDLE);
            assertThat(cuEventRecord(eventOfTwo, streamOfThree)).isEqualTo(CUresult.CUDA_ERROR_INVALID_HANDLE);
            three.makeCurrent();
            assertThat(two.scale(ofTwo, ofTwo, 4, 1, streamOfThree)).isEqualTo(CUresult.CUDA_ERROR_INVALID_HANDLE);

            two.makeCurrent();
            assertThat(cuMemcpyDtoD(ofTwo, ofThree, 16)).as("between devices").isEqualTo(CUresult.CUDA_SUCCESS);
            assertThat(cuStreamWaitEvent(streamOfThree, eventOfTwo, 0))
                    .as("across devices")
                    .isEqualTo(CUresult.CUDA_SUCCESS);
            Device.check(cuCtxSynchronize());
            assertThat(cuCtxEnablePeerAccess(three.context, 0)).isEqualTo(CUresult.CUDA_SUCCESS);
            assertThat(two.scale(ofThree, ofTwo, 4, 2, streamOfTwo)).isEqualTo(CUresult.CUDA_SUCCESS);
            Device.check(cuStreamSynchronize(streamOfTwo));
            assertThat(Device.read(ofTwo, 4)).containsExactly(2, 4, 6, 8);
            assertThat(cuCtxDisablePeerAccess(three.context)).isEqualTo(CUresult.CUDA_SUCCESS);
        }
    }

    @Test
    void nothingWorksWithoutAContext() throws InterruptedException {
        SimulatorProcess.assumeSimulator();
        try (Device device = new Device(2)) {
            int[] status = new int[2];
            Thread other = new Thread(() -> {
                status[0] = cuMemAlloc(new CUdeviceptr(), 16);
                cuCtxSetCurrent(device.context);
                CUdeviceptr y = new CUdeviceptr();
                status[1] = cuMemAlloc(y, 16) + cuMemFree(y);
            });
            other.start();
            other.join();
            assertThat(status).containsExactly(CUresult.CUDA_ERROR_INVALID_CONTEXT, CUresult.CUDA_SUCCESS);
        }
    }

    @Test
    void theEnvironmentSaysHowManyDevicesThereAre() {
        assertThat(SimulatorProcess.run(Map.of("CUSIM_DEVICES", "3"), "devices").output())
                .contains("[cudasim] simulated CUDA devices on host memory: not a GPU, no timing means anything")
                .contains("3 devices, first: CUDA simulation on host memory, device 0");
        assertThat(SimulatorProcess.run(Map.of("CUSIM_DEVICES", "8", "CUDA_VISIBLE_DEVICES", "5,2"), "devices")
                        .output())
                .contains("2 devices, first: CUDA simulation on host memory, device 5");
    }
}
