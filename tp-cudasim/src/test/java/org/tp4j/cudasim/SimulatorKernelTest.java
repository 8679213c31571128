package org.tp4j.cudasim;

import static jcuda.driver.JCudaDriver.*;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import jcuda.Pointer;
import jcuda.driver.CUdeviceptr;
import jcuda.driver.CUfunction;
import jcuda.driver.CUfunction_attribute;
import jcuda.driver.CUresult;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SimulatorKernelTest {
    private static final String SUM = "sum=256.0";
    private static final String RIGHT_BY_LUCK = "sumWithoutBarrier=256.0";

    @Test
    void aMissingBarrierShowsInAnotherOrder() {
        String forward = SimulatorProcess.run(Map.of(), "order").output();
        assertThat(forward).contains(SUM, RIGHT_BY_LUCK, "lastBlock=6.0");
        String reverse =
                SimulatorProcess.run(Map.of("CUSIM_ORDER", "reverse"), "order").output();
        assertThat(reverse).contains(SUM, "lastBlock=0.0").doesNotContain(RIGHT_BY_LUCK);
    }

    @ParameterizedTest
    @CsvSource({"1", "2"})
    void aMissingBarrierShowsInAnyShuffledOrder(String seed) {
        Map<String, String> environment = Map.of("CUSIM_ORDER", "shuffle", "CUSIM_SEED", seed);
        assertThat(SimulatorProcess.run(environment, "order").output())
                .contains(SUM)
                .doesNotContain(RIGHT_BY_LUCK);
    }

    /** A fault ends the context: every later call answers with it. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "outOfBounds | CUDA_ERROR_ILLEGAL_ADDRESS | kernel outOfBounds, block (0,0,0), thread (0,0,0): touched an address",
                "divergentBarrier | CUDA_ERROR_LAUNCH_FAILED | threads meet at two barriers, lines",
                "missingLanes | CUDA_ERROR_LAUNCH_FAILED | 32 threads wait for ever",
                "overrunShared | CUDA_ERROR_LAUNCH_FAILED | wrote past its 128 bytes of dynamic shared memory",
                "trap | CUDA_ERROR_LAUNCH_FAILED | __trap"
            })
    void aFaultIsSticky(String kernel, String status, String message) {
        String output = SimulatorProcess.run(Map.of(), "fault", kernel).output();
        assertThat(output)
                .contains(message)
                .contains("synchronize=" + status, "allocate=" + status, "launch=" + status, "finished");
    }

    @Test
    void sharedMemoryIsFilledForEveryBlock() {
        SimulatorProcess.assumeSimulator();
        try (Device device = new Device(2)) {
            CUdeviceptr y = device.floats(0, 0);
            Device.check(device.launch("unsetShared", 3, 32, 256, null, y, y));
            assertThat(Device.read(y, 2)).containsOnly(Float.NaN);
        }
    }

    @Test
    void launchesHaveLimits() {
        SimulatorProcess.assumeSimulator();
        try (Device device = new Device(2)) {
            CUdeviceptr y = device.floats(0, 0);
            assertThat(device.launch("bounded", 1, 64, 0, null, y, y)).isEqualTo(CUresult.CUDA_SUCCESS);
            assertThat(device.launch("bounded", 1, 65, 0, null, y, y)).isEqualTo(CUresult.CUDA_ERROR_INVALID_VALUE);
            assertThat(device.launch("scale", 1, 1025, 0, null, y, y, 1L, 1f))
                    .isEqualTo(CUresult.CUDA_ERROR_INVALID_VALUE);
            assertThat(device.launch("scale", 0, 32, 0, null, y, y, 1L, 1f))
                    .isEqualTo(CUresult.CUDA_ERROR_INVALID_VALUE);
            CUfunction shared = device.function("unsetShared");
            assertThat(Device.launch(shared, 1, 32, 100_000, null, y, y)).isEqualTo(CUresult.CUDA_ERROR_INVALID_VALUE);
            Device.check(cuFuncSetAttribute(
                    shared, CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 100_000));
            assertThat(Device.launch(shared, 1, 32, 100_000, null, y, y)).isEqualTo(CUresult.CUDA_SUCCESS);
            Pointer none = Pointer.to(new Pointer());
            assertThat(cuLaunchKernel(shared, 1, 1, 1, 1, 1, 1, 0, null, none, null))
                    .as("an argument that is missing")
                    .isEqualTo(CUresult.CUDA_ERROR_INVALID_VALUE);
        }
    }

    @Test
    void lanesOfAWarpExchangeValues() {
        SimulatorProcess.assumeSimulator();
        try (Device device = new Device(2)) {
            CUdeviceptr y = device.allocate(8 * 32 * 4);
            Device.check(device.launch("lanes", 1, 32, 0, null, y, y));
            float[] values = Device.read(y, 8 * 32);
            for (int t = 0; t < 32; t++) {
                float[] expected = {
                    t ^ 5, t < 29 ? t + 3 : t, t >= 3 ? t - 3 : t, t / 8 * 8 + 7, 11, 1, t ^ 1, 10,
                };
                assertThat(java.util.Arrays.copyOfRange(values, 8 * t, 8 * t + 8))
                        .as("lane %d", t)
                        .isEqualTo(expected);
            }
        }
    }

    @Test
    void atomicsCountAcrossBlocks() {
        SimulatorProcess.assumeSimulator();
        try (Device device = new Device(2)) {
            int[] x = new int[1000];
            int[] expected = new int[8];
            for (int i = 0; i < x.length; i++) {
                x[i] = i * 5 % 1001;
                expected[x[i] % 8]++;
            }
            CUdeviceptr input = device.allocate(4 * x.length);
            CUdeviceptr counts = device.allocate(32);
            CUdeviceptr most = device.allocate(4);
            Device.check(cuMemcpyHtoD(input, Pointer.to(x), 4L * x.length));
            Device.check(cuMemsetD32(counts, 0, 8));
            Device.check(cuMemsetD32(most, 0, 1));
            Device.check(device.launch("count", 8, 128, 0, null, input, counts, most, x.length));
            int[] found = new int[8];
            Device.check(cuMemcpyDtoH(Pointer.to(found), counts, 32));
            assertThat(found).isEqualTo(expected);
            int[] largest = new int[1];
            Device.check(cuMemcpyDtoH(Pointer.to(largest), most, 4));
            assertThat(largest[0]).isEqualTo(1000);
        }
    }

    @Test
    void cudaCppMeansWhatItMeansOnADevice() {
        SimulatorProcess.assumeSimulator();
        try (Device device = new Device(2)) {
            CUdeviceptr x = device.floats(0.5f, 4f, 0.125f, 3f);
            CUdeviceptr y = device.allocate(64);
            Device.check(device.launch("language", 1, 32, 0, null, x, y));
            float[] expected = {
                0.5204999f, 0.5f, 2.125f, -0.70710677f, -0.70710677f, 3, 3, 8, 1, 24, 12, 0, 0, 37, 6, 0.75f,
            };
            assertThat(Device.read(y, 16)).containsExactly(expected, Offset.offset(1e-6f));
        }
    }
}
