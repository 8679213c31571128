package org.tp4j.cudasim;

import static jcuda.driver.JCudaDriver.*;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import jcuda.Pointer;
import jcuda.driver.CUdeviceptr;
import jcuda.driver.CUevent;
import jcuda.driver.CUfunction;
import jcuda.driver.CUgraph;
import jcuda.driver.CUgraphExec;
import jcuda.driver.CUresult;
import jcuda.driver.CUstream;
import jcuda.driver.CUstreamCaptureMode;
import jcuda.jcublas.JCublas2;
import jcuda.jcublas.cublasHandle;
import org.tp4j.cuda.CudaLibraries;

/** What {@link SimulatorProcess} runs: one scenario, named by the first argument; it prints what it saw. */
final class Scenarios {
    private static final int THREADS = 256;

    private interface Scenario {
        void run(String... arguments);
    }

    private static final Map<String, Scenario> ALL = new TreeMap<>(Map.of(
            "order", Scenarios::order,
            "fault", Scenarios::fault,
            "leak", Scenarios::leak,
            "clean", arguments -> clean(),
            "trace", arguments -> trace(),
            "compile", Scenarios::compile,
            "opened-late", arguments -> openedLate(),
            "host-function", arguments -> hostFunction(),
            "messages", arguments -> messages(),
            "devices", arguments -> devices()));

    static {
    }

    private Scenarios() {}

    /** Ends with status 0 unless the simulator says otherwise. */
    public static void main(String[] arguments) {
        ALL.get(arguments[0])
                .run(List.of(arguments).subList(1, arguments.length).toArray(String[]::new));
        System.out.println("finished");
        System.exit(0);
    }

    private static float[] ones() {
        float[] ones = new float[THREADS];
        java.util.Arrays.fill(ones, 1);
        return ones;
    }

    /** Sums of one block with and without barriers, in the order of threads that the environment asks for. */
    private static void order(String... arguments) {
        try (Device device = new Device(0)) {
            CUdeviceptr x = device.floats(ones());
            for (String kernel : List.of("sum", "sumWithoutBarrier")) {
                CUdeviceptr y = device.allocate(4);
                Device.check(device.launch(kernel, 1, THREADS, 0, null, x, y));
                Device.check(cuCtxSynchronize());
                System.out.println(kernel + "=" + Device.read(y, 1)[0]);
            }
            CUdeviceptr last = device.allocate(4);
            Device.check(device.launch("lastBlock", 7, 32, 0, null, x, last));
            System.out.println("lastBlock=" + Device.read(last, 1)[0]);
        }
    }

    /** A kernel that faults, and what the context answers afterwards. */
    private static void fault(String... arguments) {
        Device device = new Device(0);
        CUdeviceptr x = device.floats(ones());
        CUdeviceptr y = device.allocate(64);
        CUfunction next = device.function("sum");
        int sharedBytes = arguments[0].equals("overrunShared") ? 128 : 0;
        device.launch(arguments[0], 1, 32, sharedBytes, null, x, y);
        System.out.println("synchronize=" + Device.name(cuCtxSynchronize()));
        System.out.println("allocate=" + Device.name(cuMemAlloc(new CUdeviceptr(), 16)));
        System.out.println("launch=" + Device.name(Device.launch(next, 1, THREADS, 0, null, x, y)));
    }

    private static void leak(String... arguments) {
        Device device = new Device(Integer.parseInt(arguments[0]));
        device.allocate(1000);
        device.allocate(24);
        device.event();
        Device.check(cuMemHostAlloc(new Pointer(), 4096, 0));
        CUstream stream = device.stream();
        Device.check(JCublas2.cublasCreate(new cublasHandle()));
        Device.check(cuStreamBeginCapture(stream, CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_GLOBAL));
        CUgraph graph = new CUgraph();
        Device.check(cuStreamEndCapture(stream, graph));
        Device.check(cuGraphInstantiate(new CUgraphExec(), graph, 0));
    }

    private static void clean() {
        try (Device device = new Device(0)) {
            device.allocate(1000);
            device.stream();
            device.event();
        }
    }

    /** Work on two streams, ordered by an event, then once more as a graph. */
    private static void trace() {
        try (Device device = new Device(0)) {
            CUdeviceptr x = device.floats(1, 2, 3, 4);
            CUdeviceptr y = device.allocate(16);
            CUstream first = device.stream();
            CUstream second = device.stream();
            CUevent event = device.event();
            CUevent back = device.event();
            Device.check(device.scale(x, y, 4, 2, first));
            Device.check(cuEventRecord(event, first));
            Device.check(cuStreamWaitEvent(second, event, 0));
            Device.check(cuMemsetD32Async(y, 0, 4, second));
            Device.check(cuCtxSynchronize());
            Device.check(cuStreamBeginCapture(first, CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_GLOBAL));
            Device.check(cuEventRecord(event, first));
            Device.check(cuStreamWaitEvent(second, event, 0));
            Device.check(device.scale(x, y, 4, 3, second));
            Device.check(cuEventRecord(back, second));
            Device.check(cuStreamWaitEvent(first, back, 0));
            CUgraph graph = new CUgraph();
            CUgraphExec exec = new CUgraphExec();
            Device.check(cuStreamEndCapture(first, graph));
            Device.check(cuGraphInstantiate(exec, graph, 0));
            Device.check(cuGraphLaunch(exec, first));
            Device.check(cuCtxSynchronize());
            System.out.println("y=" + Device.read(y, 4)[3]);
            Device.check(cuGraphExecDestroy(exec));
            Device.check(cuGraphDestroy(graph));
        }
    }

    /** Compiles the probes some times over, each time with another number in the source. */
    private static void compile(String... arguments) {
        CudaLibraries.load();
        for (int i = 0; i < Integer.parseInt(arguments[0]); i++) {
            String source =
                    "// " + arguments[1] + " " + i + "\nextern \"C\" __global__ void f(float* x) { *x = " + i + "; }\n";
            Nvrtc.Compiled compiled = Nvrtc.compile(source, "--gpu-architecture=sm_90");
            System.out.println(
                    "compiled " + i + " " + compiled.result() + " " + java.util.Arrays.hashCode(compiled.cubin()));
        }
    }

    /**
     * Memory of a stream used on another one that does not wait until the first has come to it. The fault may be told by
     * the launch itself or by any later call, as with the driver.
     */
    private static void openedLate() {
        Device device = new Device(0);
        CUdeviceptr x = device.floats(ones());
        CUdeviceptr y = device.allocate(16);
        CUstream owner = device.stream();
        CUstream other = device.stream();
        Device.Gate gate = device.gate();
        CUdeviceptr late = new CUdeviceptr();
        Device.check(device.scaleHeld(x, y, 4, 1, owner, gate));
        Device.check(cuMemAllocAsync(late, 16, owner));
        int launched = device.scale(x, late, 4, 1, other);
        int afterwards = cuStreamSynchronize(other);
        gate.open();
        if (launched != CUresult.CUDA_SUCCESS && launched != afterwards) {
            throw new IllegalStateException(Device.name(launched) + ", then " + Device.name(afterwards));
        }
        System.out.println("synchronize=" + Device.name(afterwards));
    }

    /** A null pointer in a host function is the program's own affair, and calling the driver there is refused. */
    private static void hostFunction() {
        try (Device device = new Device(0)) {
            List<String> seen = new ArrayList<>();
            CUstream stream = device.stream();
            Device.check(cuLaunchHostFunc(
                    stream,
                    ignored -> {
                        seen.add("driver=" + Device.name(cuMemAlloc(new CUdeviceptr(), 16)));
                        for (int i = 0; i < 20000; i++) {
                            try {
                                length(i % 1000 == 999 ? null : new int[1]);
                            } catch (NullPointerException e) {
                                seen.add("caught");
                            }
                        }
                    },
                    null));
            Device.check(cuStreamSynchronize(stream));
            System.out.println(seen.get(0) + " and " + (seen.size() - 1) + " caught");
        }
    }

    private static int length(int[] array) {
        return array.length;
    }

    /** Calls that are refused with an explanation. */
    private static void messages() {
        Device one = new Device(1);
        CUdeviceptr ofOne = one.floats(1, 2, 3, 4);
        CUdeviceptr freed = new CUdeviceptr();
        Device zero = new Device(0);
        Device.check(cuMemAlloc(freed, 64));
        Device.check(cuMemFree(freed));
        CUdeviceptr y = zero.allocate(64);
        CUstream stream = zero.stream();
        zero.scale(ofOne, y, 4, 1, stream);
        zero.scale(freed, y, 4, 1, stream);
        zero.launch("bounded", 1, 65, 0, stream, y, y);
        zero.launch("unsetShared", 1, 32, 60000, stream, y, y);
        cuMemcpyHtoD(y, Pointer.to(new float[17]), 68);
        cuMemFree(freed);
        cuMemcpyDtoD(y, ofOne.withByteOffset(8), 16);
    }

    private static void devices() {
        CudaLibraries libraries = CudaLibraries.load();
        byte[] name = new byte[64];
        Device.check(cuDeviceGetName(name, name.length, new Device(0).deviceHandle()));
        System.out.println(libraries.deviceCount() + " devices, first: "
                + new String(name, java.nio.charset.StandardCharsets.US_ASCII).trim());
    }
}
