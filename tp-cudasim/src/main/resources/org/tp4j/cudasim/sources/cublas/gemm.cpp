// The GEMM functions: everything a call can do wrong is checked before the product goes onto the stream.
#include <algorithm>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "cublas/gemm.h"
#include "cublas/multiply.h"

namespace cusim {

namespace {

struct Matrix {
    const char* name;
    uintptr_t address;
    int type;
    int64_t ld, stride;
    int64_t rows, columns;  // as stored

    // From the first element of the first matrix behind the last of the last one.
    size_t bytes(int64_t batch) const {
        return rows && columns ? (stride * (batch - 1) + (columns - 1) * ld + rows) * bytesOf(type) : 0;
    }
};

struct Call {
    const char* name;
    int transposeA, transposeB;
    int64_t m, n, k;
    const void *alpha, *beta;
    Matrix a, b, c;
    int64_t batch;
    int compute;
};

bool isOneOf(int value, std::initializer_list<int> values) {
    return std::find(values.begin(), values.end(), value) != values.end();
}

// Which types go together, after the table of cublasGemmEx.
bool isSupported(const Call& call) {
    int in = call.a.type, out = call.c.type;
    if (!isKnown(in) || in != call.b.type || !isKnown(out)) return false;
    if (isOneOf(call.compute, {COMPUTE_64F, COMPUTE_64F_PEDANTIC})) return in == CUDA_R_64F && out == CUDA_R_64F;
    if (isOneOf(call.compute, {COMPUTE_16F, COMPUTE_16F_PEDANTIC})) return in == CUDA_R_16F && out == CUDA_R_16F;
    if (isOneOf(call.compute, {COMPUTE_32F_FAST_16F, COMPUTE_32F_FAST_16BF, COMPUTE_32F_FAST_TF32})) {
        return in == CUDA_R_32F && out == CUDA_R_32F;
    }
    if (!isOneOf(call.compute, {COMPUTE_32F, COMPUTE_32F_PEDANTIC})) return false;
    return in != CUDA_R_64F && (out == in || out == CUDA_R_32F);
}

Rounding roundingOf(const Call& call, const Handle& handle) {
    if (call.a.type != CUDA_R_32F) return Rounding::NONE;
    if (call.compute == COMPUTE_32F_FAST_16F) return Rounding::HALF;
    if (call.compute == COMPUTE_32F_FAST_16BF) return Rounding::BFLOAT16;
    bool tf32 = call.compute == COMPUTE_32F_FAST_TF32 ||
            (call.compute == COMPUTE_32F && (handle.mathMode & MATH_MODES) == TF32_TENSOR_OP_MATH);
    return tf32 ? Rounding::TF32 : Rounding::NONE;
}

double readScale(const Call& call, const void* scale) {
    if (isOneOf(call.compute, {COMPUTE_64F, COMPUTE_64F_PEDANTIC})) return *static_cast<const double*>(scale);
    if (isOneOf(call.compute, {COMPUTE_16F, COMPUTE_16F_PEDANTIC})) return static_cast<float>(*static_cast<const Half*>(scale));
    return *static_cast<const float*>(scale);
}

// [first, last) of every column, in order of address.
using Spans = std::vector<std::pair<uintptr_t, uintptr_t>>;

Spans spansOf(const Matrix& matrix, int64_t batch) {
    Spans spans;
    size_t element = bytesOf(matrix.type);
    for (int64_t q = 0; q < batch; q++) {
        for (int64_t j = 0; j < matrix.columns; j++) {
            uintptr_t first = matrix.address + (q * matrix.stride + j * matrix.ld) * element;
            spans.emplace_back(first, first + matrix.rows * element);
        }
    }
    std::sort(spans.begin(), spans.end());
    return spans;
}

// Whether two matrices share an element. Slices of one buffer may interleave without sharing any.
bool overlap(const Matrix& x, const Matrix& y, int64_t batch) {
    if (x.address >= y.address + y.bytes(batch) || y.address >= x.address + x.bytes(batch)) return false;
    Spans one = spansOf(x, batch), two = spansOf(y, batch);
    for (size_t i = 0, j = 0; i < one.size() && j < two.size();) {
        if (one[i].first < two[j].second && two[j].first < one[i].second) return true;
        one[i].second <= two[j].second ? i++ : j++;
    }
    return false;
}

// Whether matrices of the batch write to the same place.
bool overlapsItself(const Matrix& matrix, int64_t batch) {
    if (batch < 2 || matrix.stride >= (matrix.columns - 1) * matrix.ld + matrix.rows) return false;
    Spans spans = spansOf(matrix, batch);
    for (size_t i = 1; i < spans.size(); i++) {
        if (spans[i].first < spans[i - 1].second) return true;
    }
    return false;
}

int checkShape(const Call& call) {
    if (!isOneOf(call.transposeA, {0, 1, 2}) || !isOneOf(call.transposeB, {0, 1, 2})) {
        return refuseBlas(CUBLAS_STATUS_INVALID_VALUE, "%s: operation %d, %d", call.name, call.transposeA, call.transposeB);
    }
    if (call.m < 0 || call.n < 0 || call.k < 0 || call.batch < 0 || !call.alpha || !call.beta) {
        return refuseBlas(CUBLAS_STATUS_INVALID_VALUE, "%s: m=%ld n=%ld k=%ld batch=%ld alpha=%p beta=%p", call.name, call.m,
                call.n, call.k, call.batch, call.alpha, call.beta);
    }
    for (const Matrix* matrix : {&call.a, &call.b, &call.c}) {
        if (matrix->ld < std::max<int64_t>(1, matrix->rows)) {
            return refuseBlas(CUBLAS_STATUS_INVALID_VALUE,
                    "%s: leading dimension %ld of %s is smaller than its %ld rows (op %c%c, m=%ld n=%ld k=%ld)", call.name,
                    matrix->ld, matrix->name, matrix->rows, "NTC"[call.transposeA], "NTC"[call.transposeB], call.m, call.n,
                    call.k);
        }
        if (matrix->stride < 0) {
            return refuseBlas(CUBLAS_STATUS_INVALID_VALUE, "%s: stride %ld of %s", call.name, matrix->stride, matrix->name);
        }
    }
    if (!isSupported(call)) {
        return refuseBlas(CUBLAS_STATUS_NOT_SUPPORTED, "%s: types A %d, B %d, C %d with compute type %d", call.name,
                call.a.type, call.b.type, call.c.type, call.compute);
    }
    return CUBLAS_STATUS_SUCCESS;
}

int checkMemory(const Call& call, const Handle& handle) {
    for (const Matrix* matrix : {&call.a, &call.b, &call.c}) {
        if (matrix->address % bytesOf(matrix->type)) {
            return refuseBlas(CUBLAS_STATUS_INVALID_VALUE, "%s: %s=%p is not aligned to its elements", call.name,
                    matrix->name, reinterpret_cast<void*>(matrix->address));
        }
        size_t bytes = matrix->bytes(call.batch);
        if (!bytes) continue;
        if (!isInside(handle, matrix->address, bytes, call.name, matrix->name)) return CUBLAS_STATUS_EXECUTION_FAILED;
        if (handle.workspace && matrix->address < handle.workspace + handle.workspaceBytes &&
                handle.workspace < matrix->address + bytes) {
            return refuseBlas(CUBLAS_STATUS_INVALID_VALUE, "%s: %s lies in the workspace", call.name, matrix->name);
        }
    }
    for (const Matrix* input : {&call.a, &call.b}) {
        if (overlap(*input, call.c, call.batch)) {
            return refuseBlas(CUBLAS_STATUS_INVALID_VALUE, "%s: C overlaps %s", call.name, input->name);
        }
    }
    if (overlapsItself(call.c, call.batch)) {
        return refuseBlas(CUBLAS_STATUS_INVALID_VALUE, "%s: matrices of the batch overlap in C (stride %ld)", call.name,
                call.c.stride);
    }
    return CUBLAS_STATUS_SUCCESS;
}

int checkContext(const Call& call, const Handle& handle) {
    CUcontext current = nullptr, ofStream = nullptr;
    cuCtxGetCurrent(&current);
    if (current != handle.context) {
        return refuseBlas(CUBLAS_STATUS_EXECUTION_FAILED, "%s: the handle is of device %d, whose context is not current",
                call.name, handle.device);
    }
    CUresult status = cuStreamGetCtx(handle.stream, &ofStream);
    if (status != CUDA_SUCCESS || ofStream != handle.context) {
        return refuseBlas(CUBLAS_STATUS_EXECUTION_FAILED, "%s: the handle's stream is not one of device %d (CUDA status %d)",
                call.name, handle.device, status);
    }
    CUstreamCaptureStatus capturing = CU_STREAM_CAPTURE_STATUS_NONE;
    cuStreamIsCapturing(handle.stream, &capturing);
    if (capturing != CU_STREAM_CAPTURE_STATUS_NONE && !handle.workspace) {
        return refuseBlas(CUBLAS_STATUS_NOT_SUPPORTED,
                "%s: captured without a workspace of the caller's (cublasSetWorkspace after cublasSetStream)", call.name);
    }
    return CUBLAS_STATUS_SUCCESS;
}

// The workspace of a handle serves one product at a time.
class WorkspaceUse {
public:
    WorkspaceUse(const Handle& handle, const char* who) : address_(handle.workspace) {
        if (!address_) return;
        bool free;
        {
            std::lock_guard<std::mutex> lock(mutex());
            free = busy().insert(address_).second;
        }
        if (!free) {
            address_ = 0;
            refuseBlas(CUBLAS_STATUS_EXECUTION_FAILED, "%s: two streams use one workspace at the same time", who);
            cusimFault(handle.device, CUDA_ERROR_LAUNCH_FAILED);
            return;
        }
        // What cuBLAS leaves there is nobody's business; whoever kept data there shall notice.
        memset(reinterpret_cast<void*>(address_), 0xFF, std::min<size_t>(handle.workspaceBytes, 64 << 10));
    }
    ~WorkspaceUse() {
        std::lock_guard<std::mutex> lock(mutex());
        busy().erase(address_);
    }

private:
    static std::mutex& mutex() {
        static std::mutex one;
        return one;
    }
    static std::set<uintptr_t>& busy() {
        static auto* all = new std::set<uintptr_t>;
        return *all;
    }

    uintptr_t address_;
};

struct Job {
    Call call;
    Handle handle;
    double alpha, beta;
    Rounding rounding;
};

// Unless told otherwise, cuBLAS may split a long k among blocks and add their sums in the type of the output.
bool splits(const Job& job) {
    constexpr int64_t LONG = 256;
    int out = job.call.c.type;
    return job.call.k >= LONG && (out == CUDA_R_16F || out == CUDA_R_16BF) &&
            !(job.handle.mathMode & DISALLOW_REDUCED_PRECISION_REDUCTION);
}

void multiplyInTwo(Product product) {
    size_t first = product.k / 2, width = bytesOf(product.inputType);
    Product second = product;
    product.k = first;
    multiply(product);
    second.k -= first;
    second.a = static_cast<const char*>(product.a) + first * (product.transposeA ? 1 : product.lda) * width;
    second.b = static_cast<const char*>(product.b) + first * (product.transposeB ? product.ldb : 1) * width;
    second.beta = 1;
    multiply(second);
}

void run(void* data) {
    Job& job = *static_cast<Job*>(data);
    const Call& call = job.call;
    WorkspaceUse workspace(job.handle, call.name);
    bool onDevice = job.handle.devicePointers;
    Product product{};
    product.transposeA = call.transposeA != 0;
    product.transposeB = call.transposeB != 0;
    product.m = call.m;
    product.n = call.n;
    product.k = call.k;
    product.lda = call.a.ld;
    product.ldb = call.b.ld;
    product.ldc = call.c.ld;
    product.inputType = call.a.type;
    product.outputType = call.c.type;
    product.alpha = onDevice ? readScale(call, call.alpha) : job.alpha;
    product.beta = onDevice ? readScale(call, call.beta) : job.beta;
    product.rounding = job.rounding;
    for (int64_t q = 0; q < call.batch; q++) {
        product.a = reinterpret_cast<const void*>(call.a.address + q * call.a.stride * bytesOf(call.a.type));
        product.b = reinterpret_cast<const void*>(call.b.address + q * call.b.stride * bytesOf(call.b.type));
        product.c = reinterpret_cast<void*>(call.c.address + q * call.c.stride * bytesOf(call.c.type));
        if (splits(job)) {
            multiplyInTwo(product);
        } else {
            multiply(product);
        }
    }
}

}  // namespace

int gemm(cublasHandle_t id, const char* name, int transposeA, int transposeB, int64_t m, int64_t n, int64_t k,
        const void* alpha, const void* a, int typeA, int64_t lda, int64_t strideA, const void* b, int typeB, int64_t ldb,
        int64_t strideB, const void* beta, void* c, int typeC, int64_t ldc, int64_t strideC, int64_t batch, int compute) {
    auto handle = handleOf(id, name);
    if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
    auto matrix = [](const char* what, const void* address, int type, int64_t ld, int64_t stride, int64_t rows,
                          int64_t columns) {
        return Matrix{what, reinterpret_cast<uintptr_t>(address), type, ld, stride, rows, columns};
    };
    Call call{name, transposeA, transposeB, m, n, k, alpha, beta,
            matrix("A", a, typeA, lda, strideA, transposeA ? k : m, transposeA ? m : k),
            matrix("B", b, typeB, ldb, strideB, transposeB ? n : k, transposeB ? k : n),
            matrix("C", c, typeC, ldc, strideC, m, n), batch, compute};
    int status = checkShape(call);
    if (status == CUBLAS_STATUS_SUCCESS) status = checkContext(call, *handle);
    if (status != CUBLAS_STATUS_SUCCESS || !m || !n || !batch) return status;
    status = checkMemory(call, *handle);
    if (status != CUBLAS_STATUS_SUCCESS) return status;

    bool onDevice = handle->devicePointers;
    auto* job = new Job{call, *handle, onDevice ? 0 : readScale(call, alpha), onDevice ? 0 : readScale(call, beta),
            roundingOf(call, *handle)};
    std::string text = std::string(name) + " " + "NTC"[transposeA] + "NTC"[transposeB] + " m=" + std::to_string(m) +
            " n=" + std::to_string(n) + " k=" + std::to_string(k) + " batch=" + std::to_string(batch) +
            (handle->multiprocessors ? " multiprocessors=" + std::to_string(handle->multiprocessors) : "");
    CUresult enqueued = cusimEnqueue(
            handle->stream, "gemm", text.c_str(), run, job, [](void* done) { delete static_cast<Job*>(done); });
    return enqueued == CUDA_SUCCESS ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

}  // namespace cusim
