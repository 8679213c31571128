package org.tp4j.cuda.internal.kernels;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import jcuda.Pointer;
import jcuda.cudaDataType;
import jcuda.jcublas.JCublas2;
import jcuda.jcublas.cublasComputeType;
import jcuda.jcublas.cublasGemmAlgo;
import jcuda.jcublas.cublasHandle;
import jcuda.jcublas.cublasMath;
import jcuda.jcublas.cublasOperation;
import jcuda.jcublas.cublasStatus;
import jcuda.runtime.cudaStream_t;
import org.jspecify.annotations.Nullable;
import org.tp4j.cuda.internal.driver.CudaDevice;
import org.tp4j.cuda.internal.driver.DeviceStream;
import org.tp4j.cuda.internal.memory.CudaStorage;
import org.tp4j.cuda.internal.memory.Lease;
import org.tp4j.cuda.internal.memory.MemoryPool;
import org.tp4j.cuda.stream.StreamTrace;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.GemmKernels;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.TpException;

/**
 * Matrix products by cuBLAS. cuBLAS takes column-major matrices, and a row-major C = A B is a column-major Cᵀ = Bᵀ Aᵀ: the
 * operands are swapped, nothing is copied.
 *
 * <p>FLOAT32 is computed in 32 bits; {@code -Dtp4j.cuda.tf32=true} allows TF32, which keeps 10 bits of the operands'
 * mantissas. 16-bit floats are multiplied exactly and summed in 32 bits. {@code -Dtp4j.cuda.gemmMultiprocessors=N} has products
 * use N multiprocessors, so that collectives beside them find room; a negative N leaves so many free.
 */
public final class CudaGemm implements GemmKernels {
    private static final String TF32 = "tp4j.cuda.tf32";
    private static final String MULTIPROCESSORS = "tp4j.cuda.gemmMultiprocessors";
    private static final long WORKSPACE_BYTES = 32L << 20; // what cuBLAS recommends for Hopper; enough for older ones

    private final CudaDevice device;
    private final DeviceStream stream;
    private final MemoryPool pool;
    private final int singleCompute;
    private final Scalars scalars = new Scalars();
    private @Nullable cublasHandle handle; // created by the first product
    private @Nullable Lease workspace;

    public CudaGemm(CudaDevice device, DeviceStream stream, MemoryPool pool) {
        this.device = device;
        this.stream = stream;
        this.pool = pool;
        this.singleCompute = Boolean.getBoolean(TF32)
                ? cublasComputeType.CUBLAS_COMPUTE_32F_FAST_TF32
                : cublasComputeType.CUBLAS_COMPUTE_32F;
    }

    /** The memory from which cuBLAS reads alpha and beta, in its compute type. */
    private static final class Scalars {
        private final ByteBuffer buffer = ByteBuffer.allocateDirect(16).order(ByteOrder.nativeOrder());
        private final Pointer alpha = Pointer.to(buffer);
        private final Pointer beta = alpha.withByteOffset(8);

        void set(boolean doubles, double a, double b) {
            if (doubles) {
                buffer.putDouble(0, a).putDouble(8, b);
            } else {
                buffer.putFloat(0, (float) a).putFloat(8, (float) b);
            }
        }
    }

    // One product at a time: a handle must not be used by several threads at once, and ranks have their own
    // devices.
    @Override
    public synchronized void gemm(
            boolean transposeA,
            boolean transposeB,
            int m,
            int n,
            int k,
            double alpha,
            NdArray a,
            long strideA,
            NdArray b,
            long strideB,
            double beta,
            NdArray c,
            long strideC,
            int batch) {
        if (m == 0 || n == 0 || batch == 0) {
            return;
        }
        device.makeCurrent();
        boolean doubles = c.dtype() == DType.FLOAT64;
        scalars.set(doubles, k == 0 ? 0 : alpha, beta);
        int compute = doubles
                ? cublasComputeType.CUBLAS_COMPUTE_64F
                : a.dtype() == DType.FLOAT32 ? singleCompute : cublasComputeType.CUBLAS_COMPUTE_32F;
        int opA = transposeA ? cublasOperation.CUBLAS_OP_T : cublasOperation.CUBLAS_OP_N;
        int opB = transposeB ? cublasOperation.CUBLAS_OP_T : cublasOperation.CUBLAS_OP_N;
        int lda = Math.max(1, transposeA ? m : k);
        int ldb = Math.max(1, transposeB ? k : n);
        int result;
        if (batch == 1) {
            result = JCublas2.cublasGemmEx_new(
                    handle(),
                    opB,
                    opA,
                    n,
                    m,
                    k,
                    scalars.alpha,
                    CudaStorage.pointerTo(b),
                    type(b),
                    ldb,
                    CudaStorage.pointerTo(a),
                    type(a),
                    lda,
                    scalars.beta,
                    CudaStorage.pointerTo(c),
                    type(c),
                    n,
                    compute,
                    cublasGemmAlgo.CUBLAS_GEMM_DEFAULT);
        } else {
            result = JCublas2.cublasGemmStridedBatchedEx_new(
                    handle(),
                    opB,
                    opA,
                    n,
                    m,
                    k,
                    scalars.alpha,
                    CudaStorage.pointerTo(b),
                    type(b),
                    ldb,
                    strideB,
                    CudaStorage.pointerTo(a),
                    type(a),
                    lda,
                    strideA,
                    scalars.beta,
                    CudaStorage.pointerTo(c),
                    type(c),
                    n,
                    strideC,
                    batch,
                    compute,
                    cublasGemmAlgo.CUBLAS_GEMM_DEFAULT);
        }
        if (result != cublasStatus.CUBLAS_STATUS_SUCCESS) {
            throw new TpException("cuBLAS product of " + (transposeA ? "transposed " : "") + a + " and "
                    + (transposeB ? "transposed " : "") + b + " into " + c + " (m " + m + ", n " + n + ", k " + k
                    + ", batch " + batch + "): " + cublasStatus.stringFor(result));
        }
        if (stream.isTraced()) {
            stream.note(
                    StreamTrace.Kind.GEMM,
                    (transposeA ? "T" : "N") + (transposeB ? "T" : "N") + " " + m + "x" + n + "x" + k);
        }
    }

    private static int type(NdArray array) {
        return switch (array.dtype()) {
            case FLOAT32 -> cudaDataType.CUDA_R_32F;
            case FLOAT64 -> cudaDataType.CUDA_R_64F;
            case BFLOAT16 -> cudaDataType.CUDA_R_16BF;
            case FLOAT16 -> cudaDataType.CUDA_R_16F;
            default ->
                throw new TpException("a matrix product of " + array.dtype() + " elements was asked for;"
                        + " HINT: cast them to a floating type first");
        };
    }

    private cublasHandle handle() {
        cublasHandle made = handle;
        if (made == null) {
            made = new cublasHandle();
            check(JCublas2.cublasCreate(made), "cublasCreate"); // on failure the handle is invalid
            check(JCublas2.cublasSetStream(made, new cudaStream_t(stream.stream())), "cublasSetStream");
            // Otherwise a split-k product may add its partial sums in 16 bits.
            check(
                    JCublas2.cublasSetMathMode(made, cublasMath.CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION),
                    "cublasSetMathMode");
            int multiprocessors = Integer.getInteger(MULTIPROCESSORS, 0);
            if (multiprocessors != 0) {
                check(
                        JCublas2.cublasSetSmCountTarget(made, limit(multiprocessors, device.multiprocessors())),
                        "cublasSetSmCountTarget");
            }
            // Its own memory, so that captured steps need none of cuBLAS's. Setting the stream would take it away
            // again.
            workspace = pool.take(WORKSPACE_BYTES);
            if (workspace != null) {
                check(JCublas2.cublasSetWorkspace(made, workspace.memory(), WORKSPACE_BYTES), "cublasSetWorkspace");
            }
            handle = made;
        }
        return made;
    }

    private static int limit(int asked, int all) {
        int limit = asked < 0 ? all + asked : asked;
        if (limit < 1 || limit > all) {
            throw new TpException("-D" + MULTIPROCESSORS + "=" + asked + " on a device of " + all
                    + " multiprocessors; HINT: 1 to " + all + ", or -1 to " + (1 - all) + " to leave so many free");
        }
        return limit;
    }

    private static void check(int result, String call) {
        if (result != cublasStatus.CUBLAS_STATUS_SUCCESS) {
            throw new TpException(call + ": " + cublasStatus.stringFor(result));
        }
    }

    public synchronized void release() {
        if (handle != null) {
            device.makeCurrent();
            JCublas2.cublasDestroy(handle);
            handle = null;
        }
    }
}
