package org.tp4j.cudasim;

import static jcuda.driver.CUstreamCaptureMode.*;
import static jcuda.driver.JCudaDriver.*;
import static org.assertj.core.api.Assertions.assertThat;

import jcuda.Pointer;
import jcuda.driver.CUdeviceptr;
import jcuda.driver.CUevent;
import jcuda.driver.CUgraph;
import jcuda.driver.CUgraphExec;
import jcuda.driver.CUresult;
import jcuda.driver.CUstream;
import jcuda.driver.CUstreamCaptureStatus;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class SimulatorGraphTest {
    private Device device;
    private CUdeviceptr x;
    private CUdeviceptr y;
    private CUdeviceptr z;
    private CUstream stream;
    private CUstream side;

    @BeforeEach
    void open() {
        SimulatorProcess.assumeSimulator();
        device = new Device(2);
        x = device.floats(1, 2, 3, 4);
        y = device.allocate(16);
        z = device.allocate(16);
        stream = device.stream();
        side = device.stream();
    }

    @AfterEach
    void close() {
        if (device != null) {
            device.close();
        }
    }

    private void begin(int mode) {
        Device.check(cuStreamBeginCapture(stream, mode));
    }

    /** Ends the capture, which must have gone well, and replays it some times. */
    private void endAndReplay(int times) {
        CUgraph graph = new CUgraph();
        CUgraphExec exec = new CUgraphExec();
        Device.check(cuStreamEndCapture(stream, graph));
        Device.check(cuGraphInstantiate(exec, graph, 0));
        Device.check(cuGraphDestroy(graph));
        for (int i = 0; i < times; i++) {
            Device.check(cuGraphLaunch(exec, stream));
        }
        Device.check(cuStreamSynchronize(stream));
        Device.check(cuGraphExecDestroy(exec));
    }

    private int end() {
        CUgraph graph = new CUgraph();
        int status = cuStreamEndCapture(stream, graph);
        if (status == CUresult.CUDA_SUCCESS) {
            Device.check(cuGraphDestroy(graph));
        }
        return status;
    }

    @Test
    void capturedWorkRunsOnlyWhenLaunched() {
        begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
        Device.check(device.scale(x, y, 4, 2, stream));
        Device.check(cuMemcpyDtoDAsync(x, y, 16, stream));
        assertThat(cuStreamQuery(side)).isEqualTo(CUresult.CUDA_SUCCESS);
        CUgraph graph = new CUgraph();
        Device.check(cuStreamEndCapture(stream, graph));
        assertThat(Device.read(y, 4)).containsOnly(Float.NaN);
        CUgraphExec exec = new CUgraphExec();
        Device.check(cuGraphInstantiate(exec, graph, 0));
        for (int i = 0; i < 3; i++) {
            Device.check(cuGraphLaunch(exec, stream));
        }
        Device.check(cuStreamSynchronize(stream));
        assertThat(Device.read(x, 4)).containsExactly(8, 16, 24, 32);
        long[] nodes = new long[1];
        Device.check(cuGraphGetNodes(graph, null, nodes));
        assertThat(nodes[0]).isEqualTo(2);
        Device.check(cuGraphExecDestroy(exec));
        Device.check(cuGraphDestroy(graph));
    }

    @Test
    void anEventForksAndJoins() {
        CUevent fork = device.event();
        CUevent join = device.event();
        begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
        Device.check(device.scaleLate(x, y, 4, 2, stream));
        Device.check(cuEventRecord(fork, stream));
        Device.check(cuStreamWaitEvent(side, fork, 0));
        int[] status = new int[1];
        Device.check(cuStreamIsCapturing(side, status));
        assertThat(status[0]).isEqualTo(CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_ACTIVE);
        Device.check(device.scale(y, z, 4, 10, side));
        Device.check(cuEventRecord(join, side));
        Device.check(cuStreamWaitEvent(stream, join, 0));
        Device.check(device.scale(z, x, 4, 1, stream));
        endAndReplay(1);
        assertThat(Device.read(x, 4)).containsExactly(20, 40, 60, 80);
        Device.check(cuStreamIsCapturing(side, status));
        assertThat(status[0]).isEqualTo(CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_NONE);
    }

    /** Branches run at the same time: what is not ordered by an edge comes too early. */
    @Test
    void aMissingEdgeShows() {
        CUevent fork = device.event();
        CUevent join = device.event();
        Device.Gate gate = device.gate();
        begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
        Device.check(cuEventRecord(fork, stream));
        Device.check(device.scaleHeld(x, y, 4, 2, stream, gate));
        Device.check(cuStreamWaitEvent(side, fork, 0));
        Device.check(device.scale(y, z, 4, 1, side));
        Device.check(cuMemcpyDtoHAsync(gate.pinned, x, 4, side)); // opens it, with the one that x begins with
        Device.check(cuEventRecord(join, side));
        Device.check(cuStreamWaitEvent(stream, join, 0));
        endAndReplay(1);
        assertThat(Device.read(z, 4)).containsOnly(Float.NaN);
        assertThat(Device.read(y, 4)).containsExactly(2, 4, 6, 8);
    }

    @Test
    void aForkMustBeJoined() {
        CUevent fork = device.event();
        begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
        Device.check(cuEventRecord(fork, stream));
        Device.check(cuStreamWaitEvent(side, fork, 0));
        Device.check(device.scale(x, y, 4, 1, side));
        assertThat(end()).isEqualTo(CUresult.CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
        assertThat(device.scale(x, y, 4, 1, side)).as("afterwards").isEqualTo(CUresult.CUDA_SUCCESS);
    }

    @Test
    void synchronizingSpoilsACapture() {
        CUevent event = device.event();
        begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
        Device.check(cuEventRecord(event, stream));
        assertThat(cuStreamSynchronize(stream)).isEqualTo(CUresult.CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
        assertThat(device.scale(x, y, 4, 1, stream)).isEqualTo(CUresult.CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
        assertThat(end()).isEqualTo(CUresult.CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
        begin(CU_STREAM_CAPTURE_MODE_RELAXED);
        assertThat(cuCtxSynchronize()).isEqualTo(CUresult.CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
        assertThat(end()).isEqualTo(CUresult.CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
        begin(CU_STREAM_CAPTURE_MODE_RELAXED);
        Device.check(cuEventRecord(event, stream));
        assertThat(cuEventQuery(event)).isEqualTo(CUresult.CUDA_ERROR_CAPTURED_EVENT);
        assertThat(end()).isEqualTo(CUresult.CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    }

    @Test
    void allocatingSpoilsACaptureUnlessItIsRelaxed() {
        CUdeviceptr made = new CUdeviceptr();
        begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
        assertThat(cuMemAlloc(made, 16)).isEqualTo(CUresult.CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
        assertThat(end()).isEqualTo(CUresult.CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
        begin(CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
        assertThat(cuMemcpyHtoD(x, Pointer.to(new float[4]), 16))
                .isEqualTo(CUresult.CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
        assertThat(end()).isEqualTo(CUresult.CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
        begin(CU_STREAM_CAPTURE_MODE_RELAXED);
        Device.check(cuMemAlloc(made, 16));
        Device.check(cuMemFree(made));
        assertThat(end()).isEqualTo(CUresult.CUDA_SUCCESS);
    }

    @Test
    void anotherThreadSpoilsAGlobalCaptureButNotALocalOne() throws InterruptedException {
        int[] status = new int[2];
        for (int local = 0; local < 2; local++) {
            int at = local;
            begin(local == 0 ? CU_STREAM_CAPTURE_MODE_GLOBAL : CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
            Thread other = new Thread(() -> {
                CUdeviceptr made = new CUdeviceptr();
                device.makeCurrent();
                status[at] = cuMemAlloc(made, 16);
                cuMemFree(made);
            });
            other.start();
            other.join();
            assertThat(end())
                    .isEqualTo(local == 0 ? CUresult.CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : CUresult.CUDA_SUCCESS);
        }
        assertThat(status).containsExactly(CUresult.CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, CUresult.CUDA_SUCCESS);
    }

    @Test
    void eventsOfOutsideAndOfOtherCapturesAreRefused() {
        CUevent event = device.event();
        Device.check(cuEventRecord(event, stream));
        begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
        assertThat(cuStreamWaitEvent(stream, event, 0)).isEqualTo(CUresult.CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
        assertThat(end()).isEqualTo(CUresult.CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);

        begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
        Device.check(cuStreamBeginCapture(side, CU_STREAM_CAPTURE_MODE_GLOBAL));
        Device.check(cuEventRecord(event, stream));
        assertThat(cuStreamWaitEvent(side, event, 0)).isEqualTo(CUresult.CUDA_ERROR_STREAM_CAPTURE_MERGE);
        assertThat(end()).isEqualTo(CUresult.CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
        assertThat(cuStreamEndCapture(side, new CUgraph())).isEqualTo(CUresult.CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
        assertThat(cuStreamWaitEvent(side, event, 0))
                .as("after the capture")
                .isEqualTo(CUresult.CUDA_ERROR_CAPTURED_EVENT);
    }

    @Test
    void aCaptureEndsWhereItBegan() throws InterruptedException {
        CUevent fork = device.event();
        begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
        Device.check(cuEventRecord(fork, stream));
        Device.check(cuStreamWaitEvent(side, fork, 0));
        assertThat(cuStreamEndCapture(side, new CUgraph())).isEqualTo(CUresult.CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
        assertThat(end()).isEqualTo(CUresult.CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
        assertThat(end()).as("not capturing").isEqualTo(CUresult.CUDA_ERROR_ILLEGAL_STATE);

        begin(CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
        int[] status = new int[1];
        Thread other = new Thread(() -> {
            device.makeCurrent();
            status[0] = cuStreamEndCapture(stream, new CUgraph());
        });
        other.start();
        other.join();
        assertThat(status[0]).isEqualTo(CUresult.CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
        assertThat(end()).isEqualTo(CUresult.CUDA_SUCCESS);
    }

    @Test
    void theNullStreamCannotTakePart() {
        CUstream blocking = device.stream(0);
        Device.check(cuStreamBeginCapture(blocking, CU_STREAM_CAPTURE_MODE_RELAXED));
        assertThat(device.scale(x, y, 4, 1, null)).isEqualTo(CUresult.CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
        assertThat(cuStreamEndCapture(blocking, new CUgraph()))
                .isEqualTo(CUresult.CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    }
}
