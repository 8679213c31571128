package org.tp4j.tests.bench;

import java.util.List;
import org.tp4j.autograd.Tensors;
import org.tp4j.tensor.Backend;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.GemmKernels;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Shape;

/**
 * The six matrix products of a step of an MLP as one rank of T has them, and nothing else: the time below which no step can
 * be. Operands are of the step's shapes and orientations and of random values, since a GPU multiplies constants faster;
 * results overwrite the same memory each time.
 */
final class MlpGemms {
    private final GemmKernels gemm;
    private final List<Product> products;

    /** C = op(A) op(B), [m, k] by [k, n]. */
    record Product(
            String name, boolean transposeA, boolean transposeB, int m, int n, int k, NdArray a, NdArray b, NdArray c) {
        double flops() {
            return 2.0 * m * n * k;
        }
    }

    MlpGemms(Backend backend, DType dtype, int tokens, int dModel, int dFf) {
        this.gemm = backend.gemm();
        NdArray x = make(backend, dtype, 1, tokens, dModel);
        NdArray up = make(backend, dtype, Math.sqrt(1.0 / dModel), dFf, dModel);
        NdArray down = make(backend, dtype, Math.sqrt(1.0 / dFf), dModel, dFf);
        NdArray h = make(backend, dtype, 1, tokens, dFf);
        NdArray y = make(backend, dtype, 1, tokens, dModel);
        NdArray hidden = make(backend, dtype, 1, tokens, dFf);
        NdArray result = make(backend, dtype, 1, tokens, dModel);
        NdArray upGradient = make(backend, dtype, 1, dFf, dModel);
        NdArray downGradient = make(backend, dtype, 1, dModel, dFf);
        this.products = List.of(
                new Product("up: X Wu^T", false, true, tokens, dFf, dModel, x, up, hidden),
                new Product("down: H Wd^T", false, true, tokens, dModel, dFf, h, down, result),
                new Product("dH = dY Wd", false, false, tokens, dFf, dModel, y, down, hidden),
                new Product("dWd = dY^T H", true, false, dModel, dFf, tokens, y, h, downGradient),
                new Product("dX = dH Wu", false, false, tokens, dModel, dFf, h, up, result),
                new Product("dWu = dH^T X", true, false, dFf, dModel, tokens, h, x, upGradient));
    }

    private static NdArray make(Backend backend, DType dtype, double deviation, int rows, int columns) {
        return Tensors.normal(backend, dtype, Shape.of(rows, columns), 0, deviation, 0, rows + 31L * columns)
                .local();
    }

    /** Each of them, to be timed apart. */
    List<Product> products() {
        return products;
    }

    /** One of them, once. */
    void run(Product p) {
        gemm.gemm(p.transposeA, p.transposeB, p.m, p.n, p.k, 1, p.a, 0, p.b, 0, 0, p.c, 0, 1);
    }

    /** All of them, in the order of the step. */
    void run() {
        for (Product product : products) {
            run(product);
        }
    }
}
