package org.tp4j.cuda;

import java.util.concurrent.atomic.AtomicInteger;
import jcuda.driver.CUgraph;
import jcuda.driver.CUgraphExec;
import jcuda.driver.CUstreamCaptureMode;
import jcuda.driver.CUstreamCaptureStatus;
import jcuda.driver.JCudaDriver;
import org.jspecify.annotations.Nullable;
import org.tp4j.tensor.CapturedStep;
import org.tp4j.tensor.ExecutionContext;
import org.tp4j.tensor.StepRecording;

/**
 * A step as a CUDA graph. The first run makes what is made lazily: kernels, cuBLAS's and NCCL's connections. The second finds
 * out what memory the step needs, which from then on is the step's own. The third is captured, and it and all later ones are
 * one launch: no Java code of the step runs any more, except its {@link StepRecording}.
 */
final class GraphStep implements CapturedStep {
    private static final AtomicInteger CAPTURES = new AtomicInteger();

    private final CudaBackend backend;
    private final Runnable step;
    private final CudaStream compute;
    private final MemoryPool.Shelf shelf = new MemoryPool.Shelf();
    private StepRecording recording = new StepRecording();
    private int runs;
    private @Nullable StepSlots slots;
    private @Nullable IdChecks idChecks;
    private @Nullable CUgraphExec graph;
    private boolean closed;

    GraphStep(CudaBackend backend, Runnable step) {
        this.backend = backend;
        this.step = step;
        this.compute = backend.computeStream();
        backend.captured().add(this);
    }

    /** Throws if a run that the host has waited for was given ids that are not allowed. */
    void verify() {
        IdChecks checks = idChecks;
        if (checks != null) {
            checks.verify();
        }
    }

    @Override
    public void run() {
        if (closed) {
            throw new IllegalStateException("a captured step is run after it has been closed");
        }
        backend.checkUsable();
        backend.makeCurrent();
        CUgraphExec ready = graph;
        if (ready != null) {
            verify();
            recording.replay();
            launch(ready);
        } else if (runs == 0) {
            step.run();
        } else if (runs == 1) {
            backend.trimMemory();
            withOwnMemory(step);
        } else {
            ready = capture();
            graph = ready;
            launch(ready);
        }
        runs++;
    }

    private void launch(CUgraphExec ready) {
        if (slots != null) {
            slots.upload();
        }
        Cuda.check(JCudaDriver.cuGraphLaunch(ready, compute.stream()), "cuGraphLaunch");
        compute.note(StreamTrace.Kind.GRAPH, "captured step");
        backend.stepLaunched();
    }

    private void withOwnMemory(Runnable body) {
        MemoryPool pool = backend.pool();
        pool.use(shelf);
        try {
            body.run();
        } finally {
            pool.use(null);
        }
    }

    private CUgraphExec capture() {
        recording = new StepRecording();
        slots = new StepSlots(backend);
        idChecks = new IdChecks(compute);
        backend.streams().forEach(CudaStream::synchronize);
        CUgraph captured = new CUgraph();
        // Relaxed: NCCL may allocate while it is captured. What of ours must not happen then is refused by ourselves.
        Cuda.check(
                JCudaDriver.cuStreamBeginCapture(compute.stream(), CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED),
                "cuStreamBeginCapture");
        int number = CAPTURES.incrementAndGet();
        backend.streams().forEach(stream -> stream.setCapture(number));
        StepSlots.setCurrent(slots);
        IdChecks.setCurrent(idChecks);
        ExecutionContext.current().setRecording(recording);
        boolean finished = false;
        try {
            withOwnMemory(step);
            joinOtherStreams();
            finished = true;
        } finally {
            ExecutionContext.current().setRecording(null);
            StepSlots.setCurrent(null);
            IdChecks.setCurrent(null);
            backend.streams().forEach(stream -> stream.setCapture(0));
            int result = JCudaDriver.cuStreamEndCapture(compute.stream(), captured);
            if (finished) {
                Cuda.check(result, "cuStreamEndCapture");
            } else { // the step's own exception is the one to see
                slots.release();
                slots = null;
                idChecks.release();
                idChecks = null;
            }
        }
        CUgraphExec instance = new CUgraphExec();
        try {
            Cuda.check(JCudaDriver.cuGraphInstantiate(instance, captured, 0), "cuGraphInstantiate");
        } finally {
            JCudaDriver.cuGraphDestroy(captured);
        }
        return instance;
    }

    /** A graph ends on the stream it began on: what the step left running on others is waited for. */
    private void joinOtherStreams() {
        for (CudaStream other : backend.streams()) {
            int[] status = {0};
            Cuda.check(JCudaDriver.cuStreamIsCapturing(other.stream(), status), "cuStreamIsCapturing");
            if (other != compute && status[0] != CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_NONE) {
                try (CudaEvent last = other.record()) {
                    compute.waitFor(last);
                }
            }
        }
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            backend.makeCurrent();
            compute.synchronize();
            if (graph != null) {
                JCudaDriver.cuGraphExecDestroy(graph);
            }
            if (slots != null) {
                slots.release();
            }
            if (idChecks != null) {
                idChecks.release();
            }
            backend.captured().remove(this);
            backend.pool().dissolve(shelf);
        }
    }
}
