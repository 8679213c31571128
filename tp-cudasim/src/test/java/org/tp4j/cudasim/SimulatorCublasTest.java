package org.tp4j.cudasim;

import static jcuda.driver.JCudaDriver.*;
import static jcuda.jcublas.JCublas2.*;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Random;
import jcuda.Pointer;
import jcuda.cudaDataType;
import jcuda.driver.CUdeviceptr;
import jcuda.driver.CUgraph;
import jcuda.driver.CUgraphExec;
import jcuda.driver.CUstream;
import jcuda.driver.CUstreamCaptureMode;
import jcuda.jcublas.cublasComputeType;
import jcuda.jcublas.cublasHandle;
import jcuda.jcublas.cublasMath;
import jcuda.jcublas.cublasStatus;
import jcuda.runtime.cudaStream_t;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.tp4j.tensor.internal.math.HalfFloats;

class SimulatorCublasTest {
    private static final int F32 = cudaDataType.CUDA_R_32F;
    private static final int COMPUTE_32F = cublasComputeType.CUBLAS_COMPUTE_32F;
    /** Two roundings of TF32's 11 bits. */
    private static final double TF32_ERROR = 1.0 / 1024;

    private Device device;
    private CUstream stream;
    private final cublasHandle handle = new cublasHandle();

    @BeforeEach
    void open() {
        SimulatorProcess.assumeSimulator();
        device = new Device(2);
        stream = device.stream();
        assertThat(cublasCreate(handle)).isZero();
        cublasSetStream(handle, new cudaStream_t(stream));
    }

    @AfterEach
    void close() {
        if (device != null) {
            device.makeCurrent();
            cublasDestroy(handle);
            device.close();
        }
    }

    private int gemm(
            int opA,
            int opB,
            int m,
            int n,
            int k,
            CUdeviceptr a,
            int lda,
            CUdeviceptr b,
            int ldb,
            float beta,
            CUdeviceptr c,
            int ldc,
            int compute) {
        return cublasGemmEx_new(
                handle,
                opA,
                opB,
                m,
                n,
                k,
                Pointer.to(new float[] {1}),
                a,
                F32,
                lda,
                b,
                F32,
                ldb,
                Pointer.to(new float[] {beta}),
                c,
                F32,
                ldc,
                compute,
                -1);
    }

    private static float[] random(int n, int seed) {
        Random random = new Random(seed);
        float[] values = new float[n];
        for (int i = 0; i < n; i++) {
            values[i] = (float) random.nextGaussian();
        }
        return values;
    }

    /** Sizes around the blocks of the simulated product, padded leading dimensions, all types. */
    @ParameterizedTest
    @CsvSource({
        "1, 1, 1, 0, 0",
        "37, 41, 53, 0, 0",
        "37, 41, 53, 1, 0",
        "37, 41, 53, 0, 1",
        "37, 41, 53, 1, 1",
        "193, 13, 257, 1, 0",
        "400, 7, 300, 0, 1",
        "64, 64, 0, 0, 0"
    })
    void productsAreRightInEveryTransposition(int m, int n, int k, int opA, int opB) {
        int lda = (opA == 0 ? m : k) + 3;
        int ldb = (opB == 0 ? k : n) + 2;
        int ldc = m + 1;
        float[] a = random(lda * (opA == 0 ? k : m) + 1, 1);
        float[] b = random(ldb * (opB == 0 ? n : k) + 1, 2);
        float[] c = random(ldc * n, 3);
        for (int type : new int[] {F32, cudaDataType.CUDA_R_64F, cudaDataType.CUDA_R_16BF, cudaDataType.CUDA_R_16F}) {
            boolean wide = type == cudaDataType.CUDA_R_64F;
            int outType = wide ? type : F32;
            CUdeviceptr da = upload(a, type);
            CUdeviceptr db = upload(b, type);
            CUdeviceptr dc = upload(c, outType);
            Pointer alpha = wide ? Pointer.to(new double[] {2}) : Pointer.to(new float[] {2});
            Pointer beta = wide ? Pointer.to(new double[] {0.5}) : Pointer.to(new float[] {0.5f});
            int compute = wide ? cublasComputeType.CUBLAS_COMPUTE_64F : COMPUTE_32F;
            assertThat(cublasGemmEx_new(
                            handle, opA, opB, m, n, k, alpha, da, type, lda, db, type, ldb, beta, dc, outType, ldc,
                            compute, -1))
                    .isZero();
            Device.check(cuStreamSynchronize(stream));
            double[] found = download(dc, c.length, outType);
            for (int j = 0; j < n; j++) {
                for (int i = 0; i < m; i++) {
                    double sum = 0;
                    double size = 1;
                    for (int p = 0; p < k; p++) {
                        double x = rounded(opA == 0 ? a[i + p * lda] : a[p + i * lda], type);
                        double y = rounded(opB == 0 ? b[p + j * ldb] : b[j + p * ldb], type);
                        sum += x * y;
                        size += Math.abs(x * y);
                    }
                    double expected = 2 * sum + 0.5 * c[i + j * ldc];
                    assertThat(Math.abs(found[i + j * ldc] - expected))
                            .as("type %d at (%d, %d)", type, i, j)
                            .isLessThan(size * (wide ? 1e-14 : 1e-6));
                }
                for (int i = m; i < ldc; i++) {
                    assertThat((float) found[i + j * ldc])
                            .as("between the columns")
                            .isEqualTo(c[i + j * ldc]);
                }
            }
        }
    }

    private static double rounded(float x, int type) {
        return switch (type) {
            case cudaDataType.CUDA_R_16BF -> HalfFloats.bfloat16ToFloat(HalfFloats.floatToBfloat16(x));
            case cudaDataType.CUDA_R_16F -> HalfFloats.float16ToFloat(HalfFloats.floatToFloat16(x));
            default -> x;
        };
    }

    private CUdeviceptr upload(float[] values, int type) {
        ByteBuffer bytes = ByteBuffer.allocateDirect(8 * values.length).order(ByteOrder.nativeOrder());
        for (float x : values) {
            switch (type) {
                case cudaDataType.CUDA_R_64F -> bytes.putDouble(x);
                case cudaDataType.CUDA_R_16BF -> bytes.putShort(HalfFloats.floatToBfloat16(x));
                case cudaDataType.CUDA_R_16F -> bytes.putShort(HalfFloats.floatToFloat16(x));
                default -> bytes.putFloat(x);
            }
        }
        CUdeviceptr address = device.allocate(bytes.position());
        Device.check(cuMemcpyHtoD(address, Pointer.to(bytes.rewind()), (long) values.length * bytesOf(type)));
        return address;
    }

    private static int bytesOf(int type) {
        return type == cudaDataType.CUDA_R_64F ? 8 : type == F32 ? 4 : 2;
    }

    private static double[] download(CUdeviceptr address, int count, int type) {
        double[] values = new double[count];
        if (type == cudaDataType.CUDA_R_64F) {
            Device.check(cuMemcpyDtoH(Pointer.to(values), address, 8L * count));
        } else {
            float[] floats = Device.read(address, count);
            for (int i = 0; i < count; i++) {
                values[i] = floats[i];
            }
        }
        return values;
    }

    @Test
    void tf32RoundsItsInputs() {
        CUdeviceptr a = device.floats(1 + 1f / 4096);
        CUdeviceptr c = device.allocate(4);
        assertThat(gemm(0, 0, 1, 1, 1, a, 1, a, 1, 0, c, 1, cublasComputeType.CUBLAS_COMPUTE_32F_FAST_TF32))
                .isZero();
        Device.check(cuStreamSynchronize(stream));
        assertThat(Device.read(c, 1)[0]).isEqualTo(1);
        assertThat(gemm(0, 0, 1, 1, 1, a, 1, a, 1, 0, c, 1, COMPUTE_32F)).isZero();
        Device.check(cuStreamSynchronize(stream));
        assertThat(Device.read(c, 1)[0]).isBetween(1.0004f, (float) (1 + TF32_ERROR));
        cublasSetMathMode(handle, cublasMath.CUBLAS_TF32_TENSOR_OP_MATH);
        assertThat(gemm(0, 0, 1, 1, 1, a, 1, a, 1, 0, c, 1, COMPUTE_32F)).isZero();
        Device.check(cuStreamSynchronize(stream));
        assertThat(Device.read(c, 1)[0]).isEqualTo(1);
    }

    @Test
    void leadingDimensionsAndRangesAreChecked() {
        CUdeviceptr a = device.floats(random(12, 1));
        CUdeviceptr b = device.floats(random(20, 2));
        CUdeviceptr c = device.allocate(4 * 15);
        assertThat(gemm(0, 0, 3, 5, 4, a, 3, b, 4, 0, c, 3, COMPUTE_32F)).isZero();
        assertThat(gemm(0, 0, 3, 5, 4, a, 2, b, 4, 0, c, 3, COMPUTE_32F))
                .isEqualTo(cublasStatus.CUBLAS_STATUS_INVALID_VALUE);
        assertThat(gemm(1, 0, 3, 5, 4, a, 3, b, 4, 0, c, 3, COMPUTE_32F))
                .isEqualTo(cublasStatus.CUBLAS_STATUS_INVALID_VALUE);
        assertThat(gemm(0, 0, 3, 5, 4, a, 3, b, 3, 0, c, 3, COMPUTE_32F))
                .isEqualTo(cublasStatus.CUBLAS_STATUS_INVALID_VALUE);
        assertThat(gemm(0, 0, 3, 5, 4, a, 4, b, 4, 0, c, 3, COMPUTE_32F))
                .as("A ends too early for this leading dimension")
                .isEqualTo(cublasStatus.CUBLAS_STATUS_EXECUTION_FAILED);
        assertThat(gemm(0, 0, 3, 5, 4, a, 3, b, 4, 0, c.withByteOffset(4), 3, COMPUTE_32F))
                .isEqualTo(cublasStatus.CUBLAS_STATUS_EXECUTION_FAILED);
        assertThat(gemm(0, 0, 3, 5, 4, a, 3, b, 4, 0, c.withByteOffset(2), 3, COMPUTE_32F))
                .isEqualTo(cublasStatus.CUBLAS_STATUS_INVALID_VALUE);
        assertThat(gemm(0, 0, 3, 5, 4, a, 3, b, 4, 0, c, 3, cublasComputeType.CUBLAS_COMPUTE_64F))
                .isEqualTo(cublasStatus.CUBLAS_STATUS_NOT_SUPPORTED);
    }

    @Test
    void theResultMustNotOverlapTheInputs() {
        CUdeviceptr all = device.floats(random(64, 1));
        CUdeviceptr b = device.floats(random(16, 2));
        assertThat(gemm(0, 0, 4, 4, 4, all, 4, b, 4, 0, all.withByteOffset(4 * 15), 4, COMPUTE_32F))
                .isEqualTo(cublasStatus.CUBLAS_STATUS_INVALID_VALUE);
        assertThat(gemm(0, 0, 4, 4, 4, all, 8, b, 4, 0, all.withByteOffset(4 * 4), 8, COMPUTE_32F))
                .as("slices of one buffer that interleave")
                .isZero();
        Pointer one = Pointer.to(new float[] {1});
        assertThat(cublasGemmStridedBatchedEx_new(
                        handle,
                        0,
                        0,
                        2,
                        2,
                        2,
                        one,
                        all,
                        F32,
                        2,
                        4,
                        b,
                        F32,
                        2,
                        4,
                        one,
                        all.withByteOffset(4 * 32),
                        F32,
                        2,
                        3,
                        2,
                        COMPUTE_32F,
                        -1))
                .as("matrices of a batch that overlap in C")
                .isEqualTo(cublasStatus.CUBLAS_STATUS_INVALID_VALUE);
    }

    @Test
    void aBatchStepsByItsStrides() {
        CUdeviceptr a = device.floats(1, 2, 3, 4);
        CUdeviceptr b = device.floats(10, 20, 30);
        CUdeviceptr c = device.floats(0, 0, 0, 0, 0, 0, 0);
        Pointer one = Pointer.to(new float[] {1});
        assertThat(cublasGemmStridedBatchedEx_new(
                        handle, 0, 0, 1, 1, 1, one, a, F32, 1, 1, b, F32, 1, 1, one, c, F32, 1, 3, 3, COMPUTE_32F, -1))
                .isZero();
        Device.check(cuStreamSynchronize(stream));
        assertThat(Device.read(c, 7)).containsExactly(10, 0, 0, 40, 0, 0, 90);
    }

    @Test
    void aCapturedProductNeedsItsOwnWorkspace() {
        CUdeviceptr a = device.floats(1, 2, 3, 4);
        CUdeviceptr c = device.floats(0, 0, 0, 0);
        CUdeviceptr workspace = device.allocate(4096);
        int mode = CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_GLOBAL;
        Device.check(cuStreamBeginCapture(stream, mode));
        assertThat(gemm(0, 0, 2, 2, 2, a, 2, a, 2, 1, c, 2, COMPUTE_32F))
                .isEqualTo(cublasStatus.CUBLAS_STATUS_NOT_SUPPORTED);
        assertThat(cublasSetWorkspace(handle, workspace, 8192)).isEqualTo(cublasStatus.CUBLAS_STATUS_INVALID_VALUE);
        assertThat(cublasSetWorkspace(handle, workspace, 4096)).isZero();
        assertThat(gemm(0, 0, 2, 2, 2, a, 2, a, 2, 1, c, 2, COMPUTE_32F)).isZero();
        CUgraph graph = new CUgraph();
        CUgraphExec exec = new CUgraphExec();
        Device.check(cuStreamEndCapture(stream, graph));
        Device.check(cuGraphInstantiate(exec, graph, 0));
        Device.check(cuGraphLaunch(exec, stream));
        Device.check(cuGraphLaunch(exec, stream));
        Device.check(cuStreamSynchronize(stream));
        assertThat(Device.read(c, 4)).containsExactly(14, 20, 30, 44);
        cublasSetStream(handle, new cudaStream_t(stream));
        Device.check(cuStreamBeginCapture(stream, mode));
        assertThat(gemm(0, 0, 2, 2, 2, a, 2, a, 2, 1, c, 2, COMPUTE_32F))
                .as("setting the stream gave up the workspace")
                .isEqualTo(cublasStatus.CUBLAS_STATUS_NOT_SUPPORTED);
        CUgraph empty = new CUgraph();
        Device.check(cuStreamEndCapture(stream, empty));
        Device.check(cuGraphDestroy(empty));
        Device.check(cuGraphExecDestroy(exec));
        Device.check(cuGraphDestroy(graph));
    }

    @Test
    void aHandleBelongsToItsDevice() {
        CUdeviceptr a = device.floats(1);
        CUdeviceptr c = device.allocate(4);
        try (Device other = new Device(3)) {
            CUdeviceptr foreign = other.floats(1);
            assertThat(gemm(0, 0, 1, 1, 1, a, 1, a, 1, 0, c, 1, COMPUTE_32F))
                    .isEqualTo(cublasStatus.CUBLAS_STATUS_EXECUTION_FAILED);
            device.makeCurrent();
            assertThat(gemm(0, 0, 1, 1, 1, foreign, 1, a, 1, 0, c, 1, COMPUTE_32F))
                    .isEqualTo(cublasStatus.CUBLAS_STATUS_EXECUTION_FAILED);
        }
        device.makeCurrent();
        cublasHandle gone = new cublasHandle();
        assertThat(cublasCreate(gone)).isZero();
        assertThat(cublasDestroy(gone)).isZero();
        assertThat(cublasDestroy(gone)).isEqualTo(cublasStatus.CUBLAS_STATUS_NOT_INITIALIZED);
    }

    /** Guards against a product so slow that parity tests could not use it: 256 cubed takes a few milliseconds. */
    @Test
    void aProductIsFastEnoughForTests() {
        int n = 256;
        CUdeviceptr a = device.floats(random(n * n, 1));
        CUdeviceptr c = device.allocate(4 * n * n);
        long best = Long.MAX_VALUE;
        for (int i = 0; i < 5; i++) {
            long start = System.nanoTime();
            assertThat(gemm(0, 1, n, n, n, a, n, a, n, 0, c, n, COMPUTE_32F)).isZero();
            Device.check(cuStreamSynchronize(stream));
            best = Math.min(best, System.nanoTime() - start);
        }
        assertThat(best).isLessThan(100_000_000);
    }
}
