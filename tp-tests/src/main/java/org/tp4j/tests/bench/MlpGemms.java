package org.tp4j.tests.bench;

import org.tp4j.tensor.Backend;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.GemmKernels;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Shape;

/**
 * The six matrix products of a step of an MLP as one rank of T has them, and nothing else: the time below which no step can
 * be. Operands are of the step's shapes and orientations, results overwrite the same memory each time.
 */
final class MlpGemms {
    private final GemmKernels gemm;
    private final int tokens;
    private final int dModel;
    private final int dFf;
    private final NdArray x;
    private final NdArray up;
    private final NdArray down;
    private final NdArray hidden;
    private final NdArray y;
    private final NdArray hiddenResult;
    private final NdArray result;
    private final NdArray upGradient;
    private final NdArray downGradient;

    MlpGemms(Backend backend, DType dtype, int tokens, int dModel, int dFf) {
        this.gemm = backend.gemm();
        this.tokens = tokens;
        this.dModel = dModel;
        this.dFf = dFf;
        this.x = make(backend, dtype, tokens, dModel);
        this.up = make(backend, dtype, dFf, dModel);
        this.down = make(backend, dtype, dModel, dFf);
        this.hidden = make(backend, dtype, tokens, dFf);
        this.y = make(backend, dtype, tokens, dModel);
        this.hiddenResult = make(backend, dtype, tokens, dFf);
        this.result = make(backend, dtype, tokens, dModel);
        this.upGradient = make(backend, dtype, dFf, dModel);
        this.downGradient = make(backend, dtype, dModel, dFf);
    }

    private static NdArray make(Backend backend, DType dtype, int rows, int columns) {
        return NdArray.full(backend, dtype, Shape.of(rows, columns), 0.5);
    }

    void run() {
        product(false, true, tokens, dFf, dModel, x, up, hiddenResult); // X Wuᵀ
        product(false, true, tokens, dModel, dFf, hidden, down, result); // H Wdᵀ
        product(false, false, tokens, dFf, dModel, y, down, hiddenResult); // dH = dY Wd
        product(true, false, dModel, dFf, tokens, y, hidden, downGradient); // dWd = dYᵀ H
        product(false, false, tokens, dModel, dFf, hidden, up, result); // dX = dH Wu
        product(true, false, dFf, dModel, tokens, hidden, x, upGradient); // dWu = dHᵀ X
    }

    private void product(boolean transposeA, boolean transposeB, int m, int n, int k, NdArray a, NdArray b, NdArray c) {
        gemm.gemm(transposeA, transposeB, m, n, k, 1, a, 0, b, 0, 0, c, 0, 1);
    }
}
