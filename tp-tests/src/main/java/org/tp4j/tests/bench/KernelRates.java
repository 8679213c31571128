package org.tp4j.tests.bench;

import java.util.ArrayList;
import java.util.List;
import org.tp4j.autograd.Tensors;
import org.tp4j.cuda.CudaBackend;
import org.tp4j.nn.Linear;
import org.tp4j.nn.Module;
import org.tp4j.optim.AdamW;
import org.tp4j.optim.SGD;
import org.tp4j.tensor.Activation;
import org.tp4j.tensor.BinaryFunction;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.ReductionKernels;
import org.tp4j.tensor.Region;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.StepNumber;
import org.tp4j.tensor.Tensor;

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

    /** A kernel and how many bytes it must read and write for an element of the large arrays. */
    private record Measured(String name, int bytesAnElement, Runnable body) {}

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
                double bytes = (double) kernel.bytesAnElement * rows * columns;
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
        int b = dtype.bytes();
        Module layer = trainedLayer();
        SGD sgd = new SGD(layer, 1e-3);
        AdamW adam = new AdamW(layer, 1e-3);
        return List.of(
                new Measured("add", 3 * b, () -> backend.elementwise().binary(BinaryFunction.ADD, x, dy, out)),
                new Measured(
                        "cast to float32",
                        b + DType.FLOAT32.bytes(),
                        () -> backend.elementwise().cast(x, single)),
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
                new Measured("softmax", 2 * b, () -> backend.reduction().softmax(x, false, out)),
                new Measured(
                        "gradient of softmax", 3, () -> backend.reduction().softmaxGrad(probabilities, dy, false, out)),
                new Measured("layer norm", 2 * b, () -> backend.norm().layerNorm(x, row, row, 1e-5, out, mean, rstd)),
                new Measured(
                        "gradient of layer norm",
                        3,
                        () -> backend.norm().layerNormGrad(x, row, mean, rstd, dy, out, dWeight, dBias)),
                new Measured("dropout", 2 * b, () -> backend.random().dropout(x, 0.1, 7, stream, whole, out)),
                // Gradient and parameter; the 32-bit values read and written are the parameter's or its copy's.
                new Measured("SGD", dtype == DType.FLOAT32 ? 12 : 4 + 8, sgd::step),
                new Measured("AdamW", dtype == DType.FLOAT32 ? 28 : 4 + 24, adam::step));
    }

    /** A layer whose weight is [rows, columns] and has a gradient. */
    private Module trainedLayer() {
        Linear layer = new Linear(columns, rows, false);
        layer.materialize(backend, dtype, 0);
        Tensor x = Tensors.normal(backend, dtype, Shape.of(1, columns), 0, 1, 0, 5);
        layer.apply(x).sum().backward();
        return layer;
    }
}
