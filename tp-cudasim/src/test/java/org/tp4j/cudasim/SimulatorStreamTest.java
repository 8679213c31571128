package org.tp4j.cudasim;

import static jcuda.driver.JCudaDriver.*;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import jcuda.driver.CUdeviceptr;
import jcuda.driver.CUevent;
import jcuda.driver.CUresult;
import jcuda.driver.CUstream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class SimulatorStreamTest {
    private Device device;
    private CUdeviceptr x;
    private CUdeviceptr y;
    private CUdeviceptr z;

    @BeforeEach
    void open() {
        SimulatorProcess.assumeSimulator();
        device = new Device(2);
        x = device.floats(1, 2, 3, 4);
        y = device.allocate(16);
        z = device.allocate(16);
    }

    @AfterEach
    void close() {
        if (device != null) {
            device.close();
        }
    }

    /** The wait is what the second stream's values hang on: without it they are taken too early. */
    @Test
    void aMissingWaitBetweenStreamsShows() {
        CUstream first = device.stream();
        CUstream second = device.stream();
        Device.Gate gate = device.gate();
        Device.check(device.scaleHeld(x, y, 4, 2, first, gate));
        Device.check(device.scale(y, z, 4, 1, second));
        Device.check(cuStreamSynchronize(second));
        assertThat(Device.read(z, 4)).containsOnly(Float.NaN);
        gate.open();

        CUevent event = device.event();
        Device.check(device.scaleLate(x, y, 4, 3, first));
        Device.check(cuEventRecord(event, first));
        Device.check(cuStreamWaitEvent(second, event, 0));
        Device.check(device.scale(y, z, 4, 1, second));
        Device.check(cuStreamSynchronize(second));
        assertThat(Device.read(z, 4)).containsExactly(3, 6, 9, 12);
    }

    @Test
    void aMissingSynchronizationWithTheHostShows() {
        CUstream stream = device.stream();
        Device.Gate gate = device.gate();
        Device.check(device.scaleHeld(x, y, 4, 2, stream, gate));
        assertThat(Device.read(y, 4)).containsOnly(Float.NaN);
        gate.open();
        Device.check(cuStreamSynchronize(stream));
        assertThat(Device.read(y, 4)).containsExactly(2, 4, 6, 8);
    }

    @Test
    void theNullStreamWaitsForBlockingStreamsOnly() {
        Device.check(device.scaleLate(x, y, 4, 2, device.stream(0)));
        Device.check(device.scale(y, z, 4, 1, null));
        Device.check(cuCtxSynchronize());
        assertThat(Device.read(z, 4)).containsExactly(2, 4, 6, 8);
    }

    @Test
    void eventsTellHowFarAStreamIs() {
        CUstream stream = device.stream();
        CUevent start = device.event();
        CUevent end = device.event();
        float[] milliseconds = new float[1];
        assertThat(cuEventQuery(end)).as("never recorded").isEqualTo(CUresult.CUDA_SUCCESS);
        assertThat(cuEventElapsedTime(milliseconds, start, end)).isEqualTo(CUresult.CUDA_ERROR_INVALID_HANDLE);
        Device.Gate gate = device.gate();
        Device.check(cuEventRecord(start, stream));
        Device.check(device.scaleHeld(x, y, 4, 2, stream, gate));
        Device.check(cuEventRecord(end, stream));
        assertThat(cuEventQuery(end)).isEqualTo(CUresult.CUDA_ERROR_NOT_READY);
        assertThat(cuStreamQuery(stream)).isEqualTo(CUresult.CUDA_ERROR_NOT_READY);
        assertThat(cuEventElapsedTime(milliseconds, start, end)).isEqualTo(CUresult.CUDA_ERROR_NOT_READY);
        gate.open();
        Device.check(cuEventSynchronize(end));
        assertThat(cuEventQuery(end)).isEqualTo(CUresult.CUDA_SUCCESS);
        Device.check(cuEventElapsedTime(milliseconds, start, end));
        assertThat(milliseconds[0]).isPositive();
        Device.check(cuStreamSynchronize(stream));
        assertThat(cuStreamQuery(stream)).isEqualTo(CUresult.CUDA_SUCCESS);
    }

    @Test
    void destroyedAndForeignHandlesAreFound() {
        CUstream stream = new CUstream();
        Device.check(cuStreamCreate(stream, 1));
        Device.check(cuStreamDestroy(stream));
        assertThat(cuStreamSynchronize(stream)).isEqualTo(CUresult.CUDA_ERROR_INVALID_HANDLE);
        assertThat(cuStreamDestroy(stream)).isEqualTo(CUresult.CUDA_ERROR_INVALID_HANDLE);
        CUevent event = new CUevent();
        Device.check(cuEventCreate(event, 0));
        Device.check(cuEventDestroy(event));
        assertThat(cuEventRecord(event, device.stream())).isEqualTo(CUresult.CUDA_ERROR_INVALID_HANDLE);
    }

    @Test
    void aDestroyedStreamFinishesItsWork() {
        CUstream stream = new CUstream();
        Device.check(cuStreamCreate(stream, 1));
        CUevent event = device.event();
        Device.check(device.scaleLate(x, y, 4, 2, stream));
        Device.check(cuEventRecord(event, stream));
        Device.check(cuStreamDestroy(stream));
        Device.check(cuEventSynchronize(event));
        assertThat(Device.read(y, 4)).containsExactly(2, 4, 6, 8);
    }

    @Test
    void prioritiesAreKeptInTheirRange() {
        CUstream stream = new CUstream();
        int[] priority = new int[1];
        Device.check(cuStreamCreateWithPriority(stream, 1, -9));
        Device.check(cuStreamGetPriority(stream, priority));
        assertThat(priority[0]).isEqualTo(-5);
        Device.check(cuStreamDestroy(stream));
    }

    @Test
    void hostFunctionsAreOfTheHost() {
        assertThat(SimulatorProcess.run(Map.of(), "host-function").output())
                .contains("driver=CUDA_ERROR_NOT_PERMITTED and 20 caught");
    }
}
