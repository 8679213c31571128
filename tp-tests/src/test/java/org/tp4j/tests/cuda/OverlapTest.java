package org.tp4j.tests.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.tp4j.autograd.DTensors;
import org.tp4j.autograd.Tensors;
import org.tp4j.comm.CommunicationOptions;
import org.tp4j.comm.launch.Launch;
import org.tp4j.comm.launch.LaunchOptions;
import org.tp4j.cuda.CudaBackend;
import org.tp4j.cuda.stream.CudaEvent;
import org.tp4j.cuda.stream.StreamTrace;
import org.tp4j.layout.DTensor;
import org.tp4j.layout.Placement;
import org.tp4j.mesh.DeviceMesh;
import org.tp4j.nn.Linear;
import org.tp4j.nn.Sequential;
import org.tp4j.parallel.ColwiseParallel;
import org.tp4j.parallel.Parallelize;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Scope;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.Tensor;

/**
 * Communication runs under the products of the backward pass: proven by the order in which work was asked of the streams. Two
 * pieces of work on different streams can run at the same time unless one's end is waited for before the other.
 */
class OverlapTest {
    private static final int ROWS = 6;
    private static final int IN = 8;
    private static final int OUT = 10;

    /** What rank 0 asks of its streams in the backward pass of a column-parallel layer. */
    private static List<StreamTrace.Entry> backward(Placement placement) {
        OnCuda.device(1);
        AtomicReference<List<StreamTrace.Entry>> seen = new AtomicReference<>();
        LaunchOptions options = new LaunchOptions("threads", 2, "cuda", CommunicationOptions.fromSystem());
        Launch.run(options, world -> {
            CudaBackend backend = (CudaBackend) world.backend();
            DeviceMesh mesh = DeviceMesh.of(world.group(), backend, List.of(Map.entry("tp", 2)));
            Sequential model = Parallelize.apply(
                    new Sequential(new Linear(IN, OUT, false)), mesh, Map.of("0", new ColwiseParallel()));
            model.materialize(backend, DType.FLOAT32, 1);
            try (Scope scope = Scope.open()) {
                Tensor whole = Tensors.normal(backend, DType.FLOAT32, Shape.of(ROWS, IN), 0, 1, 1, 1);
                DTensor x = DTensors.distribute(whole, mesh, placement);
                x.requiresGrad(true);
                Tensor loss = model.apply(x).sum();
                StreamTrace trace = new StreamTrace();
                backend.setTrace(trace);
                loss.backward();
                backend.setTrace(null);
                if (world.rank() == 0) {
                    seen.set(trace.entries());
                    assertThat(trace.entries())
                            .filteredOn(entry -> entry.kind() == StreamTrace.Kind.RECORD)
                            .extracting(StreamTrace.Entry::what)
                            .doesNotHaveDuplicates();
                }
            }
        });
        return seen.get();
    }

    private static int indexOf(List<StreamTrace.Entry> trace, StreamTrace.Kind kind, String what) {
        for (int i = 0; i < trace.size(); i++) {
            if (trace.get(i).kind() == kind && trace.get(i).what().contains(what)) {
                return i;
            }
        }
        throw new AssertionError("no " + kind + " " + what + " in\n" + trace);
    }

    /** Where the compute stream first waits for the end of the work at {@code collective}, or the trace's end. */
    private static int waitFor(List<StreamTrace.Entry> trace, int collective) {
        StreamTrace.Entry end = trace.get(collective + 1);
        assertThat(end.kind()).isEqualTo(StreamTrace.Kind.RECORD);
        assertThat(end.stream()).isEqualTo(trace.get(collective).stream());
        for (int i = collective; i < trace.size(); i++) {
            StreamTrace.Entry entry = trace.get(i);
            if (entry.stream().equals("compute")
                    && entry.kind() == StreamTrace.Kind.WAIT
                    && entry.what().equals(end.what())) {
                return i;
            }
        }
        return trace.size();
    }

    /** The collective waits for what it sends, and is asked for right after that. */
    private static void assertComesAfter(List<StreamTrace.Entry> trace, int collective, int producer) {
        StreamTrace.Entry wait = trace.get(collective - 1);
        assertThat(wait.kind()).isEqualTo(StreamTrace.Kind.WAIT);
        List<StreamTrace.Entry> between = new ArrayList<>(trace.subList(producer, collective));
        assertThat(between)
                .anyMatch(entry -> entry.stream().equals("compute")
                        && entry.kind() == StreamTrace.Kind.RECORD
                        && entry.what().equals(wait.what()));
    }

    @Test
    void shouldAllReduceTheInputGradientUnderTheProductForTheWeight() {
        List<StreamTrace.Entry> trace = backward(Placement.invariant());
        int dx = indexOf(trace, StreamTrace.Kind.GEMM, "NN");
        int allReduce = indexOf(trace, StreamTrace.Kind.COLLECTIVE, "allReduce");
        int dw = indexOf(trace, StreamTrace.Kind.GEMM, "TN");
        assertThat(trace.get(allReduce).stream()).isEqualTo("communication");
        assertThat(List.of(dx, allReduce, dw)).isSorted();
        assertComesAfter(trace, allReduce, dx);
        int waited = waitFor(trace, allReduce);
        assertThat(waited).isGreaterThan(dw).isLessThan(trace.size());
    }

    @Test
    void shouldGatherUnderOneProductAndScatterUnderTheOtherWithSequenceParallelism() {
        List<StreamTrace.Entry> trace = backward(Placement.shard(0));
        int gather = indexOf(trace, StreamTrace.Kind.COLLECTIVE, "allGather");
        int dx = indexOf(trace, StreamTrace.Kind.GEMM, "NN");
        int scatter = indexOf(trace, StreamTrace.Kind.COLLECTIVE, "reduceScatter");
        int dw = indexOf(trace, StreamTrace.Kind.GEMM, "TN");
        assertThat(List.of(gather, dx, scatter, dw)).isSorted();
        assertThat(waitFor(trace, gather)).as("%s", trace).isGreaterThan(dx).isLessThan(dw); // X is needed for dW
        assertComesAfter(trace, scatter, dx);
        assertThat(waitFor(trace, scatter)).isGreaterThan(dw).isLessThan(trace.size());
    }

    /** Memory is given back at a random moment of the collector's: it must not wait for what its event marks by then. */
    @Test
    void shouldNotWaitForTheNextUseOfAnEvent() {
        CudaBackend cuda = OnCuda.device();
        int n = 256;
        NdArray a = NdArray.allocate(cuda, DType.FLOAT32, Shape.of(n, n));
        NdArray b = NdArray.allocate(cuda, DType.FLOAT32, Shape.of(n, n));
        NdArray used = NdArray.allocate(cuda, DType.FLOAT32, Shape.of(n));
        CudaEvent event = cuda.communicationStream().record();
        String first = event.label();
        cuda.usedOn(used, event);
        event.synchronize();
        event.close();
        for (int i = 0; i < 20; i++) {
            cuda.gemm().gemm(false, false, n, n, n, 1, a, 0, a, 0, 0, b, 0, 1);
        }
        try (CudaEvent again = cuda.computeStream().record()) {
            assertThat(again).isSameAs(event);
            assertThat(again.label()).isNotEqualTo(first);
            StreamTrace trace = new StreamTrace();
            cuda.setTrace(trace);
            used.storage().release();
            cuda.setTrace(null);
            assertThat(trace.entries()).isEmpty();
        }
        cuda.synchronize();
    }
}
