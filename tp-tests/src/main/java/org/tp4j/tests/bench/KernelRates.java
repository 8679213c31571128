package org.tp4j.tests.bench;

import java.util.ArrayList;
import java.util.List;
import org.tp4j.autograd.Tensors;
import org.tp4j.cuda.CudaBackend;
import org.tp4j.tensor.Activation;
import org.tp4j.tensor.BinaryKernel;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.ReductionKernels;
import org.tp4j.tensor.Region;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.StepNumber;

/**
 * Rates of kernels that only move memory: bytes they must read and write, over their time. What is far below the rate of a
 * copy within the device is a kernel to look at.
 */
final class KernelRates {
    private final CudaBackend backend;
    private final DType dtype;
    private final int rows;
    private final int columns;
    private final Pace pace;
    private boolean failed;

    /** @param rows of the arrays, [rows, columns], which should be several times the device's cache */
    KernelRates(CudaBackend backend, DType dtype, int rows, int columns, Pace pace) {
        this.backend = backend;
        this.dtype = dtype;
        this.rows = rows;
        this.columns = columns;
        this.pace = pace;
    }

    /** A kernel and how often it must touch an element of a large array. */
    private record Measured(String name, int touches, Runnable body) {}

    /** One report a kernel, in a scope of the caller's. */
    List<Report> measure() {
        List<Report> reports = new ArrayList<>();
        for (Measured kernel : kernels()) {
            Report report = new Report()
                    .put("measure", "kernel")
                    .put("kernel", kernel.name)
                    .put("dtype", dtype.toString())
                    .put("rows", rows)
                    .put("columns", columns);
            Contest contest = new Contest(pace).run(List.of(new DeviceContender("kernel", backend, pace, kernel.body)));
            failed |= contest.hasFailures();
            contest.addTo(report);
            if (contest.has("kernel")) {
                double bytes = (double) kernel.touches * rows * columns * dtype.bytes();
                report.put("gb_s", bytes / contest.medianMs("kernel") / 1e6, 1);
            }
            reports.add(report);
        }
        return reports;
    }

    /** Whether a kernel has failed. */
    boolean hasFailures() {
        return failed;
    }

    private NdArray normal(int... sizes) {
        Shape shape = sizes.length == 1 ? Shape.of(sizes[0]) : Shape.of(sizes[0], sizes[1]);
        return Tensors.normal(backend, dtype, shape, 0, 1, 0, sizes.length).local();
    }

    private List<Measured> kernels() {
        NdArray x = normal(rows, columns);
        NdArray dy = normal(rows, columns);
        NdArray out = normal(rows, columns);
        NdArray row = normal(columns);
        NdArray one = NdArray.allocate(backend, DType.FLOAT32, Shape.of());
        NdArray single = NdArray.allocate(backend, DType.FLOAT32, Shape.of(rows, columns));
        NdArray mean = NdArray.allocate(backend, DType.FLOAT32, Shape.of(rows));
        NdArray rstd = NdArray.allocate(backend, DType.FLOAT32, Shape.of(rows));
        NdArray dWeight = NdArray.allocate(backend, dtype, Shape.of(columns));
        NdArray dBias = NdArray.allocate(backend, dtype, Shape.of(columns));
        NdArray probabilities = NdArray.allocate(backend, dtype, Shape.of(rows, columns));
        backend.reduction().softmax(x, false, probabilities);
        backend.norm().layerNorm(x, row, row, 1e-5, out, mean, rstd);
        Region whole = Region.whole(x.shape());
        StepNumber stream = StepNumber.of(7);
        ReductionKernels.Kind sum = ReductionKernels.Kind.SUM;
        int cast = dtype == DType.FLOAT32 ? 2 : 1 + DType.FLOAT32.bytes() / dtype.bytes();
        return List.of(
                new Measured("add", 3, () -> backend.elementwise().binary(BinaryKernel.ADD, x, dy, out)),
                new Measured(
                        "cast to float32", cast, () -> backend.elementwise().cast(x, single)),
                new Measured(
                        "bias and GELU",
                        2,
                        () -> backend.elementwise().biasActivation(Activation.GELU_TANH, x, row, out)),
                new Measured(
                        "gradient of bias and GELU",
                        3,
                        () -> backend.elementwise().biasActivationGrad(Activation.GELU_TANH, x, row, dy, out)),
                new Measured(
                        "gradient of a bias",
                        1,
                        () -> backend.reduction().reduce(sum, x, new boolean[] {true, false}, dBias)),
                new Measured(
                        "sum of rows", 1, () -> backend.reduction().reduce(sum, x, new boolean[] {false, true}, mean)),
                new Measured(
                        "sum of all", 1, () -> backend.reduction().reduce(sum, x, new boolean[] {true, true}, one)),
                new Measured("softmax", 2, () -> backend.reduction().softmax(x, false, out)),
                new Measured(
                        "gradient of softmax", 3, () -> backend.reduction().softmaxGrad(probabilities, dy, false, out)),
                new Measured("layer norm", 2, () -> backend.norm().layerNorm(x, row, row, 1e-5, out, mean, rstd)),
                new Measured(
                        "gradient of layer norm",
                        3,
                        () -> backend.norm().layerNormGrad(x, row, mean, rstd, dy, out, dWeight, dBias)),
                new Measured("dropout", 2, () -> backend.random().dropout(x, 0.1, 7, stream, whole, out)));
    }
}
