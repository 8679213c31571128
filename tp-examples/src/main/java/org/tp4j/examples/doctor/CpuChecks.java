package org.tp4j.examples.doctor;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Supplier;
import org.tp4j.autograd.Tensors;
import org.tp4j.comm.CommunicationOptions;
import org.tp4j.comm.ReduceOp;
import org.tp4j.cpu.CpuBackend;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.GradMode;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Scope;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.Tensor;
import org.tp4j.threads.ThreadRanks;

/** Runs a matrix product and an all-reduce on the CPU backend, checked and timed. */
@SuppressWarnings("try") // scopes that are only opened and closed
final class CpuChecks {
    private static final int SIZE = 768; // of the matrices
    private static final double TOLERANCE = 1e-3; // for a float32 sum of 768 products of numbers below 1
    private static final int ELEMENTS = 1 << 20;
    private static final long MEASURING_NANOS = 300_000_000;
    private static final String REPORT_IT = "please report it with this output";
    private static final long TIMEOUT_MS = 60_000;

    private CpuChecks() {}

    static List<Finding> run() {
        List<Finding> findings = new ArrayList<>();
        findings.add(attempt("BLAS", CpuChecks::blas));
        findings.add(attempt(
                "vector code", () -> Finding.ok("vector code", CpuBackend.get().vectorDescription())));
        findings.add(attempt("product", CpuChecks::product));
        findings.add(attempt("ranks", CpuChecks::allReduce));
        return findings;
    }

    private static Finding attempt(String name, Supplier<Finding> check) {
        try {
            return check.get();
        } catch (RuntimeException | LinkageError e) {
            return Finding.broken(name, e.toString(), REPORT_IT);
        }
    }

    private static Finding blas() {
        CpuBackend cpu = CpuBackend.get();
        String found = cpu.blasDescription();
        if (found.startsWith("pure Java")) {
            return Finding.note(
                    "BLAS",
                    found + ": matrix products are several times slower than with OpenBLAS",
                    "add org.bytedeco:openblas with the classifier of this platform to the class path; it is unpacked into"
                            + " ~/.javacpp, which must be writable");
        }
        int threads = cpu.blasThreads();
        return Finding.ok("BLAS", found + ", " + threads + (threads == 1 ? " thread" : " threads"));
    }

    private static Finding product() {
        try (Scope scope = Scope.open("doctor");
                GradMode off = GradMode.noGrad()) {
            CpuBackend cpu = CpuBackend.get();
            Shape square = Shape.of(SIZE, SIZE);
            Tensor a = Tensors.uniform(cpu, DType.FLOAT32, square, -1, 1, 1, 1);
            Tensor b = Tensors.uniform(cpu, DType.FLOAT32, square, -1, 1, 1, 2);
            double error = largestError(a.toFloats(), b.toFloats(), a.matmul(b).toFloats());
            if (!(error <= TOLERANCE)) {
                return Finding.broken("product", "off by " + error, REPORT_IT);
            }
            long best = Long.MAX_VALUE;
            for (long begin = System.nanoTime(); System.nanoTime() - begin < MEASURING_NANOS; ) {
                long start = System.nanoTime();
                try (Scope one = Scope.open("product")) {
                    a.matmul(b);
                }
                best = Math.min(best, System.nanoTime() - start);
            }
            return Finding.ok(
                    "product",
                    String.format(
                            Locale.ROOT,
                            "%d x %d float32: correct, %.1f GFLOP/s",
                            SIZE,
                            SIZE,
                            2.0 * SIZE * SIZE * SIZE / best));
        }
    }

    /** The largest error on the diagonal, relative to float64 sums. */
    private static double largestError(float[] a, float[] b, float[] product) {
        double largest = 0;
        for (int i = 0; i < SIZE; i++) {
            double sum = 0;
            for (int k = 0; k < SIZE; k++) {
                sum += (double) a[i * SIZE + k] * b[k * SIZE + i];
            }
            double error = Math.abs(sum - product[i * SIZE + i]);
            largest = error <= largest ? largest : error;
        }
        return largest;
    }

    private static Finding allReduce() {
        CommunicationOptions options = CommunicationOptions.fromSystem().withTimeoutMs(TIMEOUT_MS);
        List<Long> nanos = ThreadRanks.call(2, options, world -> {
            NdArray mine = NdArray.full(world.backend(), DType.FLOAT32, Shape.of(ELEMENTS), world.rank() + 1);
            NdArray sum = NdArray.allocate(world.backend(), DType.FLOAT32, Shape.of(ELEMENTS));
            long best = Long.MAX_VALUE;
            for (int i = 0; i < 20; i++) {
                world.group().barrier();
                long start = System.nanoTime();
                world.group().allReduce(mine, sum, ReduceOp.SUM).await();
                best = Math.min(best, System.nanoTime() - start);
            }
            for (float value : Tensors.of(sum).toFloats()) {
                if (value != 3) {
                    return -1L;
                }
            }
            return best;
        });
        return nanos.contains(-1L)
                ? Finding.broken("ranks", "an all-reduce of two threads gave a wrong sum", REPORT_IT)
                : Finding.ok(
                        "ranks",
                        String.format(
                                Locale.ROOT,
                                "2 threads all-reduce %d MiB of float32: correct, %.2f ms",
                                ELEMENTS >> 18,
                                nanos.get(0) / 1e6));
    }
}
