package org.tp4j.cuda.internal.capture;

import jcuda.driver.CUgraph;
import jcuda.driver.CUgraphExec;
import jcuda.driver.CUstreamCaptureMode;
import jcuda.driver.CUstreamCaptureStatus;
import jcuda.driver.JCudaDriver;
import org.jspecify.annotations.Nullable;
import org.tp4j.cuda.internal.driver.Cuda;
import org.tp4j.cuda.internal.driver.DeviceStream;
import org.tp4j.cuda.internal.memory.MemoryPool;
import org.tp4j.cuda.internal.memory.Shelf;
import org.tp4j.cuda.stream.CudaEvent;
import org.tp4j.cuda.stream.StreamTrace;
import org.tp4j.tensor.CapturedStep;
import org.tp4j.tensor.ExecutionContext;
import org.tp4j.tensor.StepRecording;

/**
 * A step as a CUDA graph. The first run creates everything lazy: kernels, cuBLAS and NCCL connections. The second
 * determines the memory the step needs, which then belongs to the step. The third is captured; it and all later runs are one
 * launch: from then on, the only Java code of the step that runs is its {@link StepRecording}.
 */
final class GraphStep implements CapturedStep {
    private final StepSite site;
    private final Runnable step;
    private final DeviceStream compute;
    private final Shelf shelf = new Shelf();
    private StepRecording recording = new StepRecording();
    private int runs;
    private @Nullable StepSlots slots;
    private @Nullable IdChecks idChecks;
    private volatile @Nullable CUgraphExec graph; // changed, and launched, under the lock of this
    private boolean ofSeveralStreams;
    private volatile boolean retired;
    private boolean closed;

    GraphStep(StepSite site, Runnable step) {
        this.site = site;
        this.step = step;
        this.compute = site.streams().compute();
    }

    /** Throws if a run that the host has waited for was given ids out of range. */
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
        site.health().check();
        checkNotRetired();
        site.device().forceCurrent();
        CUgraphExec ready = graph;
        if (ready != null) {
            verify();
            recording.replay();
            launch(ready);
        } else if (runs == 0) {
            step.run();
        } else if (runs == 1) {
            site.pool().trim();
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
        synchronized (this) {
            checkNotRetired();
            Cuda.check(JCudaDriver.cuGraphLaunch(ready, compute.stream()), "cuGraphLaunch");
        }
        compute.note(StreamTrace.Kind.GRAPH, "captured step");
        site.launched().run();
    }

    private void checkNotRetired() {
        if (retired) {
            site.health().check();
            throw new IllegalStateException(
                    "a captured step with collectives is run after one of its groups was closed;"
                            + " HINT: close the step before the group, and capture another one with the new group");
        }
    }

    private synchronized void destroyGraph() {
        CUgraphExec ready = graph;
        if (ready != null) {
            graph = null;
            JCudaDriver.cuGraphExecDestroy(ready);
        }
    }

    /**
     * Destroys the graph if it uses several streams; the step can no longer run. A run in progress continues: the driver
     * keeps the resources it needs.
     */
    synchronized void retireIfOfSeveralStreams() {
        if (ofSeveralStreams && graph != null) {
            retired = true;
            site.device().makeCurrent();
            destroyGraph();
        }
    }

    private void withOwnMemory(Runnable body) {
        MemoryPool pool = site.pool();
        pool.use(shelf);
        try {
            body.run();
        } finally {
            pool.use(null);
        }
    }

    private CUgraphExec capture() {
        recording = new StepRecording();
        StepSlots newSlots = new StepSlots(site.pool(), compute);
        slots = newSlots;
        IdChecks newChecks = new IdChecks(compute);
        idChecks = newChecks;
        site.streams().all().forEach(DeviceStream::synchronize);
        CUgraph captured = new CUgraph();
        // Relaxed: NCCL may allocate while it is captured. Our own calls are checked by checkNotCapturing.
        Cuda.check(
                JCudaDriver.cuStreamBeginCapture(compute.stream(), CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED),
                "cuStreamBeginCapture");
        int number = site.captures().getAsInt();
        site.streams().all().forEach(stream -> stream.beginCapture(number));
        Capture.begin(newSlots, newChecks);
        ExecutionContext.current().setRecording(recording);
        boolean finished = false;
        try {
            withOwnMemory(step);
            joinOtherStreams();
            finished = true;
        } finally {
            ExecutionContext.current().setRecording(null);
            Capture.end();
            site.streams().all().forEach(DeviceStream::endCapture);
            int result = JCudaDriver.cuStreamEndCapture(compute.stream(), captured);
            if (finished) {
                Cuda.check(result, "cuStreamEndCapture");
            } else { // the step's own exception matters more
                newSlots.release();
                slots = null;
                newChecks.release();
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

    /** A graph ends on the stream it began on, so that stream waits for the work the step left running on others. */
    private void joinOtherStreams() {
        for (DeviceStream other : site.streams().all()) {
            int[] status = {0};
            Cuda.check(JCudaDriver.cuStreamIsCapturing(other.stream(), status), "cuStreamIsCapturing");
            if (other != compute && status[0] != CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_NONE) {
                try (CudaEvent last = other.record()) {
                    compute.waitFor(last);
                }
                ofSeveralStreams = true;
            }
        }
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            site.device().forceCurrent();
            compute.synchronize();
            destroyGraph();
            if (slots != null) {
                slots.release();
            }
            if (idChecks != null) {
                idChecks.release();
            }
            site.closed().accept(this);
            site.pool().dissolve(shelf);
        }
    }
}
