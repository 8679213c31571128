package org.tp4j.cpu.internal.kernels;

import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.tp4j.cpu.CpuBackend;
import org.tp4j.cpu.internal.blas.NetlibBlas;
import org.tp4j.cpu.internal.memory.HostStorage;
import org.tp4j.tensor.Activation;
import org.tp4j.tensor.BinaryFunction;
import org.tp4j.tensor.CrossEntropyOptions;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.ParameterUpdate;
import org.tp4j.tensor.ReductionKernels.Kind;
import org.tp4j.tensor.Region;
import org.tp4j.tensor.Scope;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.StepNumber;
import org.tp4j.tensor.UnaryFunction;

/**
 * Measures kernels through the service interface; not a test, so it runs only when it is named: {@code mvn -pl tp-cpu -am
 * test -Dtest=KernelBench -Dsurefire.failIfNoSpecifiedTests=false}. Nanoseconds are the best of several tries, of one thread's
 * processor time; an element's at 256 × 1024 elements.
 */
class KernelBench {
    private static final int ROWS = 256;
    private static final int N = 1024;
    private static final long WARM_UP_NANOS = 1_000_000_000L;
    private static final long TRY_NANOS = 30_000_000L;
    private static final int TRIES = 12;

    private final CpuBackend backend = CpuBackend.get();
    private final List<String> lines = new ArrayList<>();

    private NdArray normal(DType dtype, long... sizes) {
        NdArray array = NdArray.allocate(backend, dtype, Shape.of(sizes));
        backend.random().normal(array, 1, sizes.length, Region.whole(array.shape()), 0, 1);
        return array;
    }

    /** Nanoseconds a call, of this thread's processor time: other programs may be running. */
    private static double nanos(Runnable body) {
        long start = cpuNanos();
        long until = start + WARM_UP_NANOS;
        long wallUntil = System.nanoTime() + WARM_UP_NANOS;
        long calls = 0;
        while (cpuNanos() < until || System.nanoTime() < wallUntil) {
            for (int i = 0; i < 10; i++) {
                body.run();
            }
            calls += 10;
        }
        long took = cpuNanos() - start;
        int count = (int) Math.max(1, calls * TRY_NANOS / took);
        double best = Double.POSITIVE_INFINITY;
        for (int i = 0; i < TRIES; i++) {
            start = cpuNanos();
            for (int j = 0; j < count; j++) {
                body.run();
            }
            best = Math.min(best, (cpuNanos() - start) / (double) count);
        }
        return best;
    }

    private static long cpuNanos() {
        return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
    }

    private void element(String name, long elements, Runnable body) {
        lines.add(String.format("%-32s %8.3f ns an element", name, nanos(body) / elements));
    }

    private void call(String name, Runnable body) {
        lines.add(String.format("%-32s %8.1f ns a call", name, nanos(body)));
    }

    private void product(String name, double flops, Runnable body) {
        lines.add(String.format("%-32s %8.1f GFLOP/s", name, flops / nanos(body)));
    }

    @Test
    void measure() {
        backend.setBlasThreads(1);
        String only = System.getProperty("tp.bench", "float32 bfloat16 rows calls products");
        if (only.contains("float32")) {
            elementwise(DType.FLOAT32);
        }
        if (only.contains("bfloat16")) {
            elementwise(DType.BFLOAT16);
        }
        if (only.contains("rows")) {
            rows();
        }
        if (only.contains("calls")) {
            calls();
        }
        if (only.contains("products")) {
            products();
        }
        System.out.println(backend.vectorDescription() + "; " + backend.blasDescription());
        lines.forEach(System.out::println);
    }

    private void elementwise(DType dtype) {
        long all = (long) ROWS * N;
        NdArray x = normal(dtype, ROWS, N);
        NdArray y = normal(dtype, ROWS, N);
        NdArray dy = normal(dtype, ROWS, N);
        NdArray out = normal(dtype, ROWS, N);
        NdArray out2 = normal(dtype, ROWS, N);
        NdArray bias = normal(dtype, N);
        NdArray column = normal(dtype, ROWS, 1);
        String suffix = " " + dtype;
        for (UnaryFunction kernel : new UnaryFunction[] {
            UnaryFunction.SCALE,
            UnaryFunction.RELU,
            UnaryFunction.EXP,
            UnaryFunction.SIGMOID,
            UnaryFunction.TANH,
            UnaryFunction.GELU,
            UnaryFunction.GELU_TANH,
            UnaryFunction.SILU
        }) {
            element(kernel + suffix, all, () -> backend.elementwise().unary(kernel, x, out, 2, 0));
        }
        for (BinaryFunction kernel : new BinaryFunction[] {
            BinaryFunction.ADD,
            BinaryFunction.MUL,
            BinaryFunction.RELU_GRAD,
            BinaryFunction.GELU_GRAD,
            BinaryFunction.SILU_GRAD
        }) {
            element(kernel + suffix, all, () -> backend.elementwise().binary(kernel, x, y, out));
        }
        element("ADD [n]" + suffix, all, () -> backend.elementwise().binary(BinaryFunction.ADD, x, bias, out));
        element("ADD [rows, 1]" + suffix, all, () -> backend.elementwise().binary(BinaryFunction.ADD, x, column, out));
        element(
                "biasActivation GELU" + suffix,
                all,
                () -> backend.elementwise().biasActivation(Activation.GELU, x, bias, out));
        element(
                "biasActivationGrad GELU" + suffix,
                all,
                () -> backend.elementwise().biasActivationGrad(Activation.GELU, x, bias, dy, out));
        element("gated SILU" + suffix, all, () -> backend.elementwise().gated(Activation.SILU, x, y, out));
        element(
                "gatedGrad SILU" + suffix,
                all,
                () -> backend.elementwise().gatedGrad(Activation.SILU, x, y, dy, out, out2));
        element("addScaled" + suffix, all, () -> backend.elementwise().addScaled(1e-9, x, out));
        long[] swapped = {1, N};
        long[] plain = {ROWS, 1};
        long[] sizes = {N, ROWS};
        element("transpose" + suffix, all, () -> backend.elementwise().copy(x, 0, swapped, out, 0, plain, sizes));
        Region region = Region.whole(x.shape());
        element("dropout" + suffix, all, () -> backend.random().dropout(x, 0.1, 1, StepNumber.of(2), region, out));
    }

    private void rows() {
        long all = (long) ROWS * N;
        NdArray x = normal(DType.FLOAT32, ROWS, N);
        NdArray dy = normal(DType.FLOAT32, ROWS, N);
        NdArray out = normal(DType.FLOAT32, ROWS, N);
        NdArray weight = normal(DType.FLOAT32, N);
        NdArray dWeight = normal(DType.FLOAT32, N);
        NdArray dBias = normal(DType.FLOAT32, N);
        NdArray mean = normal(DType.FLOAT32, ROWS);
        NdArray rstd = normal(DType.FLOAT32, ROWS);
        NdArray scalar = normal(DType.FLOAT32);
        NdArray labels = NdArray.full(backend, DType.INT64, Shape.of(ROWS), 3);
        boolean[] both = {true, true};
        boolean[] first = {true, false};
        boolean[] last = {false, true};
        element("sum of all", all, () -> backend.reduction().reduce(Kind.SUM, x, both, scalar));
        element("sum of rows", all, () -> backend.reduction().reduce(Kind.SUM, x, last, mean));
        element("sum of columns", all, () -> backend.reduction().reduce(Kind.SUM, x, first, dBias));
        element("softmax", all, () -> backend.reduction().softmax(x, false, out));
        element("softmaxGrad", all, () -> backend.reduction().softmaxGrad(x, dy, false, out));
        element("layerNorm", all, () -> backend.norm().layerNorm(x, weight, weight, 1e-5, out, mean, rstd));
        element(
                "layerNormGrad",
                all,
                () -> backend.norm().layerNormGrad(x, weight, mean, rstd, dy, out, dWeight, dBias));
        element("rmsNorm", all, () -> backend.norm().rmsNorm(x, weight, 1e-5, out, rstd));
        CrossEntropyOptions options = CrossEntropyOptions.DEFAULT;
        NdArray loss = normal(DType.FLOAT32, ROWS);
        element("crossEntropy", all, () -> backend.loss().crossEntropy(x, labels, options, loss, mean, rstd));
        element(
                "crossEntropyGrad",
                all,
                () -> backend.loss().crossEntropyGrad(x, labels, options, mean, rstd, loss, out));
        NdArray w = normal(DType.FLOAT32, ROWS, N);
        NdArray m = normal(DType.FLOAT32, ROWS, N);
        NdArray v = NdArray.full(backend, DType.FLOAT32, Shape.of(ROWS, N), 1);
        List<ParameterUpdate> adam = List.of(
                new ParameterUpdate(w, null, dy, List.of(m, v), StepNumber.of(3), StepNumber.ofDouble(1e-9), 0.01));
        List<ParameterUpdate> sgd =
                List.of(new ParameterUpdate(w, null, dy, List.of(), StepNumber.of(1), StepNumber.ofDouble(1e-9), 0));
        element("adam", all, () -> backend.optimizer().adam(adam, 1, 0.9, 0.999, 1e-8, true));
        element("sgd", all, () -> backend.optimizer().sgd(sgd, 1, 0, false));
        Region region = Region.whole(x.shape());
        element("uniform", all, () -> backend.random().uniform(out, 1, 2, region, 0, 1));
        element("normal", all, () -> backend.random().normal(out, 1, 2, region, 0, 1));
    }

    private void calls() {
        NdArray x = normal(DType.FLOAT32, 8, 8);
        NdArray y = normal(DType.FLOAT32, 8, 8);
        NdArray out = normal(DType.FLOAT32, 8, 8);
        NdArray bias = normal(DType.FLOAT32, 8);
        boolean[] both = {true, true};
        NdArray scalar = normal(DType.FLOAT32);
        call(
                "allocate and free 8 x 8",
                () -> backend.allocate(DType.FLOAT32, 64).release());
        call("scope with one 8 x 8", () -> {
            try (Scope scope = Scope.open()) {
                backend.allocate(DType.FLOAT32, 64);
            }
        });
        call("ADD 8 x 8", () -> backend.elementwise().binary(BinaryFunction.ADD, x, y, out));
        call("ADD [n] 8 x 8", () -> backend.elementwise().binary(BinaryFunction.ADD, x, bias, out));
        call("RELU 8 x 8", () -> backend.elementwise().unary(UnaryFunction.RELU, x, out, 0, 0));
        call("biasActivation GELU 8 x 8", () -> backend.elementwise().biasActivation(Activation.GELU, x, bias, out));
        call("sum 8 x 8", () -> backend.reduction().reduce(Kind.SUM, x, both, scalar));
        call("gemm 8 x 8 x 8", () -> backend.gemm().gemm(false, true, 8, 8, 8, 1, x, 0, y, 0, 0, out, 0, 1));
    }

    private void products() {
        int[][] sizes = {{512, 4096, 1024}, {512, 1024, 4096}, {64, 1024, 256}, {64, 256, 1024}, {32, 32, 32}};
        for (int[] size : sizes) {
            int m = size[0];
            int n = size[1];
            int k = size[2];
            NdArray a = normal(DType.FLOAT32, m, k);
            NdArray b = normal(DType.FLOAT32, n, k);
            NdArray c = normal(DType.FLOAT32, m, n);
            String shape = m + " x " + n + " x " + k;
            double flops = 2.0 * m * n * k;
            product("gemm " + shape, flops, () -> backend.gemm().gemm(false, true, m, n, k, 1, a, 0, b, 0, 0, c, 0, 1));
            float[] rawA = ((HostStorage) a.storage()).floats();
            float[] rawB = ((HostStorage) b.storage()).floats();
            float[] rawC = ((HostStorage) c.storage()).floats();
            dev.ludovic.netlib.blas.BLAS raw = dev.ludovic.netlib.blas.NativeBLAS.getInstance();
            product(
                    "raw sgemm " + shape,
                    flops,
                    () -> raw.sgemm("T", "N", n, m, k, 1, rawB, 0, k, rawA, 0, k, 0, rawC, 0, n));
        }
        NdArray a = normal(DType.BFLOAT16, 512, 1024);
        NdArray b = normal(DType.BFLOAT16, 4096, 1024);
        NdArray c = normal(DType.BFLOAT16, 512, 4096);
        product(
                "gemm bfloat16 512 x 4096 x 1024",
                2.0 * 512 * 4096 * 1024,
                () -> backend.gemm().gemm(false, true, 512, 4096, 1024, 1, a, 0, b, 0, 0, c, 0, 1));
        NdArray da = normal(DType.FLOAT64, 512, 512);
        product(
                "gemm float64 512 x 512 x 512",
                2.0 * 512 * 512 * 512,
                () -> backend.gemm().gemm(false, true, 512, 512, 512, 1, da, 0, da, 0, 0, normalLike(da), 0, 1));
        NetlibBlas java = NetlibBlas.java();
        float[] fa = ((HostStorage) normal(DType.FLOAT32, 512, 512).storage()).floats();
        float[] fc = new float[512 * 512];
        for (boolean transpose : new boolean[] {false, true}) {
            product(
                    java.description() + " 512 B" + (transpose ? "ᵀ" : ""),
                    2.0 * 512 * 512 * 512,
                    () -> java.sgemm(false, transpose, 512, 512, 512, 1, fa, 0, fa, 0, 0, fc, 0));
        }
        product(
                java.description() + " 512 Aᵀ",
                2.0 * 512 * 512 * 512,
                () -> java.sgemm(true, false, 512, 512, 512, 1, fa, 0, fa, 0, 0, fc, 0));
    }

    private NdArray cached;

    private NdArray normalLike(NdArray array) {
        if (cached == null) {
            cached = NdArray.allocate(backend, array.dtype(), array.shape());
        }
        return cached;
    }
}
