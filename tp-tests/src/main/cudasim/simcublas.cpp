// simcublas.cpp - test-only libcublas.so.12: GEMM family in plain C++ on the simulated driver's streams (cuLaunchHostFunc).
#include "cuda_driver.h"
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <vector>
#define API extern "C" __attribute__((visibility("default")))
enum { OK = 0, NOT_INIT = 1, INVALID = 7, EXEC_FAILED = 13, NOT_SUPPORTED = 15 };
enum { R32F = 0, R64F = 1, R16F = 2, R16BF = 14 };             // cudaDataType
enum { C16F = 64, C16F_PED = 65, C32F = 68, C32F_PED = 69, C64F = 70, C64F_PED = 71, C32F_16F = 74, C32F_16BF = 75, C32F_TF32 = 77 };  // cublasComputeType_t
namespace {
struct H { CUstream s = nullptr; int math = 0, ptrMode = 0; };
float bf2f(uint16_t b) { uint32_t u = (uint32_t)b << 16; float f; memcpy(&f, &u, 4); return f; }
uint16_t f2bf(float f) { uint32_t u; memcpy(&u, &f, 4); if ((u & 0x7fffffff) > 0x7f800000) return (u >> 16) | 0x40; return (u + 0x7fff + ((u >> 16) & 1)) >> 16; }
template <class T> double rd(const void* p, size_t i) { return ((const T*)p)[i]; }
double get(const void* p, int t, size_t i) { switch (t) { case R32F: return ((float*)p)[i]; case R64F: return ((double*)p)[i]; case R16BF: return bf2f(((uint16_t*)p)[i]); default: return (double)(float)((_Float16*)p)[i]; } }
void put(void* p, int t, size_t i, double v) { switch (t) { case R32F: ((float*)p)[i] = (float)v; break; case R64F: ((double*)p)[i] = v; break; case R16BF: ((uint16_t*)p)[i] = f2bf((float)v); break; default: ((_Float16*)p)[i] = (_Float16)(float)v; } }
size_t sz(int t) { return t == R64F ? 8 : t == R32F ? 4 : 2; }
bool okType(int t) { return t == R32F || t == R64F || t == R16F || t == R16BF; }
void  host(void* p) { auto* f = (std::function<void()>*)p; (*f)(); delete f; }
// every operand must lie inside one device allocation
bool inside(const void* p, size_t bytes, const char* what) { CUdeviceptr b; size_t n; if (!bytes) return true;
  if (cuMemGetAddressRange_v2(&b, &n, (CUdeviceptr)p)) { fprintf(stderr, "[simcublas] %s=%p is no device address\n", what, p); return false; }
  if ((CUdeviceptr)p + bytes > b + n) { fprintf(stderr, "[simcublas] %s: %zu bytes at %p run past the allocation\n", what, bytes, p); return false; } return true; }
int gemm(H* h, int ta, int tb, int m, int n, int k, const void* alpha, const void* A, int at, int lda, long long sa, const void* Bm, int bt, int ldb, long long sb,
         const void* beta, void* C, int ct, int ldc, long long sc, int batch, int compute) {
  if (!h) return NOT_INIT; if (m < 0 || n < 0 || k < 0 || batch < 0 || !alpha || !beta) return INVALID;
  if (lda < (ta ? k : m) || lda < 1 || ldb < (tb ? n : k) || ldb < 1 || ldc < m || ldc < 1) return INVALID;
  if (!okType(at) || at != bt || !okType(ct)) return NOT_SUPPORTED;
  bool f64 = compute == C64F || compute == C64F_PED, f16 = compute == C16F || compute == C16F_PED, f32 = compute == C32F || compute == C32F_PED || compute == C32F_16F || compute == C32F_16BF || compute == C32F_TF32;
  if (f64 ? !(at == R64F && ct == R64F) : f16 ? !(at == R16F && ct == R16F) : f32 ? !(at != R64F && (ct == at || (ct == R32F && at != R32F))) : true) return NOT_SUPPORTED;
  if (h->ptrMode) return NOT_SUPPORTED;
  if (!m || !n || !batch) return OK;
  double al = f64 ? *(double*)alpha : f16 ? (double)(float)*(_Float16*)alpha : *(float*)alpha, be = f64 ? *(double*)beta : f16 ? (double)(float)*(_Float16*)beta : *(float*)beta;
  size_t ac = ta ? m : k, ar = ta ? k : m, bc = tb ? k : n, br = tb ? n : k;
  if (k && (!inside(A, (sa * (batch - 1) + (ac - 1) * lda + ar) * sz(at), "A") || !inside(Bm, (sb * (batch - 1) + (bc - 1) * ldb + br) * sz(bt), "B"))) return EXEC_FAILED;
  if (!inside(C, (sc * (batch - 1) + (size_t)(n - 1) * ldc + m) * sz(ct), "C")) return EXEC_FAILED;
  auto* job = new std::function<void()>([=] {
    std::vector<float> a((size_t)m * k), b((size_t)k * n); std::vector<float> acc(m); std::vector<double> acd(f64 ? m : 0);
    for (int q = 0; q < batch; q++) { const char *Aq = (const char*)A + q * sa * sz(at), *Bq = (const char*)Bm + q * sb * sz(bt); char* Cq = (char*)C + q * sc * sz(ct);
      if (!f64) {   // pack to float, column-major m x k and k x n, then axpy over columns (vectorised)
        for (int p = 0; p < k; p++) for (int i = 0; i < m; i++) a[(size_t)p * m + i] = (float)get(Aq, at, ta ? (size_t)i * lda + p : (size_t)p * lda + i);
        for (int j = 0; j < n; j++) for (int p = 0; p < k; p++) b[(size_t)j * k + p] = (float)get(Bq, bt, tb ? (size_t)p * ldb + j : (size_t)j * ldb + p); }
      for (int j = 0; j < n; j++) {
        if (!f64) { std::fill(acc.begin(), acc.end(), 0.f); for (int p = 0; p < k; p++) { float x = b[(size_t)j * k + p]; const float* col = &a[(size_t)p * m]; float* r = acc.data(); for (int i = 0; i < m; i++) r[i] += x * col[i]; } }
        else { std::fill(acd.begin(), acd.end(), 0.); for (int p = 0; p < k; p++) { double x = get(Bq, bt, tb ? (size_t)p * ldb + j : (size_t)j * ldb + p); for (int i = 0; i < m; i++) acd[i] += x * get(Aq, at, ta ? (size_t)i * lda + p : (size_t)p * lda + i); } }
        for (int i = 0; i < m; i++) { size_t c = (size_t)j * ldc + i; double v = f64 ? al * acd[i] : (double)(float)(al * acc[i]); if (be != 0) v += be * get(Cq, ct, c); put(Cq, ct, c, v); } } } });
  return cuLaunchHostFunc(h->s, host, job) == CUDA_SUCCESS ? OK : EXEC_FAILED; }
}  // namespace
API int cublasCreate_v2(H** h) { CUcontext c; if (cuCtxGetCurrent(&c) || !c) { *h = nullptr; return NOT_INIT; } *h = new H; return OK; }
API int cublasDestroy_v2(H* h) { if (!h) return NOT_INIT; delete h; return OK; }
API int cublasGetVersion_v2(H*, int* v) { *v = 120600; return OK; }
API int cublasGetProperty(int t, int* v) { if (t < 0 || t > 2) return INVALID; *v = t == 0 ? 12 : t == 1 ? 6 : 0; return OK; }
API size_t cublasGetCudartVersion() { return 12060; }
API int cublasSetStream_v2(H* h, CUstream s) { if (!h) return NOT_INIT; h->s = s; return OK; }
API int cublasGetStream_v2(H* h, CUstream* s) { if (!h) return NOT_INIT; *s = h->s; return OK; }
API int cublasSetMathMode(H* h, int m) { if (!h) return NOT_INIT; h->math = m; return OK; }
API int cublasGetMathMode(H* h, int* m) { if (!h) return NOT_INIT; *m = h->math; return OK; }
API int cublasSetPointerMode_v2(H* h, int m) { if (!h) return NOT_INIT; h->ptrMode = m; return OK; }
API int cublasGetPointerMode_v2(H* h, int* m) { if (!h) return NOT_INIT; *m = h->ptrMode; return OK; }
API int cublasSetWorkspace_v2(H* h, void*, size_t) { return h ? OK : NOT_INIT; }
API const char* cublasGetStatusName(int s) { switch (s) { case 0: return "CUBLAS_STATUS_SUCCESS"; case 1: return "CUBLAS_STATUS_NOT_INITIALIZED"; case 3: return "CUBLAS_STATUS_ALLOC_FAILED"; case 7: return "CUBLAS_STATUS_INVALID_VALUE"; case 13: return "CUBLAS_STATUS_EXECUTION_FAILED"; case 14: return "CUBLAS_STATUS_INTERNAL_ERROR"; case 15: return "CUBLAS_STATUS_NOT_SUPPORTED"; default: return "CUBLAS_STATUS"; } }
API const char* cublasGetStatusString(int s) { return cublasGetStatusName(s); }
API int cublasGemmEx(H* h, int ta, int tb, int m, int n, int k, const void* al, const void* A, int at, int lda, const void* B, int bt, int ldb, const void* be, void* C, int ct, int ldc, int comp, int) { return gemm(h, ta, tb, m, n, k, al, A, at, lda, 0, B, bt, ldb, 0, be, C, ct, ldc, 0, 1, comp); }
API int cublasGemmStridedBatchedEx(H* h, int ta, int tb, int m, int n, int k, const void* al, const void* A, int at, int lda, long long sa, const void* B, int bt, int ldb, long long sb, const void* be, void* C, int ct, int ldc, long long sc, int batch, int comp, int) { return gemm(h, ta, tb, m, n, k, al, A, at, lda, sa, B, bt, ldb, sb, be, C, ct, ldc, sc, batch, comp); }
API int cublasSgemm_v2(H* h, int ta, int tb, int m, int n, int k, const float* al, const float* A, int lda, const float* B, int ldb, const float* be, float* C, int ldc) { return gemm(h, ta, tb, m, n, k, al, A, R32F, lda, 0, B, R32F, ldb, 0, be, C, R32F, ldc, 0, 1, C32F); }
API int cublasSgemmStridedBatched(H* h, int ta, int tb, int m, int n, int k, const float* al, const float* A, int lda, long long sa, const float* B, int ldb, long long sb, const float* be, float* C, int ldc, long long sc, int batch) { return gemm(h, ta, tb, m, n, k, al, A, R32F, lda, sa, B, R32F, ldb, sb, be, C, R32F, ldc, sc, batch, C32F); }
