// simcuda.cpp - test-only libcuda.so.1: the part of the CUDA driver API a training library needs, on host memory.
// CUSIM_DEVICES=n (default 2), CUSIM_ASYNC=1 (default) runs every stream on its own thread; 0 runs work at enqueue time.
#include "cuda_driver.h"
enum CUjit_option {};
#define cuMemAlloc cuMemAlloc_v2
#define cuMemFree cuMemFree_v2
#define cuMemAllocHost cuMemAllocHost_v2
#define cuMemHostGetDevicePointer cuMemHostGetDevicePointer_v2
#define cuMemGetAddressRange cuMemGetAddressRange_v2
#define cuMemGetInfo cuMemGetInfo_v2
#define cuMemcpyHtoD cuMemcpyHtoD_v2
#define cuMemcpyDtoH cuMemcpyDtoH_v2
#define cuMemcpyDtoD cuMemcpyDtoD_v2
#define cuMemcpyHtoDAsync cuMemcpyHtoDAsync_v2
#define cuMemcpyDtoHAsync cuMemcpyDtoHAsync_v2
#define cuMemcpyDtoDAsync cuMemcpyDtoDAsync_v2
#define cuMemsetD8 cuMemsetD8_v2
#define cuMemsetD16 cuMemsetD16_v2
#define cuMemsetD32 cuMemsetD32_v2
#define cuStreamDestroy cuStreamDestroy_v2
#define cuEventDestroy cuEventDestroy_v2
#define cuDeviceTotalMem cuDeviceTotalMem_v2
#define cuDevicePrimaryCtxRelease cuDevicePrimaryCtxRelease_v2
#define cuCtxPushCurrent cuCtxPushCurrent_v2
#define cuCtxPopCurrent cuCtxPopCurrent_v2
#include <dlfcn.h>
#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <csetjmp>
#include <csignal>
#include <set>
#include <string>
#include <thread>
#include <vector>
#define API extern "C" __attribute__((visibility("default")))
using Clock = std::chrono::steady_clock;
namespace {
struct Launch { unsigned grid[3], block[3], shmem; };
int envInt(const char* n, int d) { const char* s = getenv(n); return s ? atoi(s) : d; }
const bool kAsync = envInt("CUSIM_ASYNC", 1), kTrace = envInt("CUSIM_TRACE", 0);
constexpr size_t GUARD = 4 << 20;
const size_t kTotal = (size_t)envInt("CUSIM_MEM_MB", 4096) << 20;
void say(const char* f, ...) { va_list a; va_start(a, f); fprintf(stderr, "[simcuda] "); vfprintf(stderr, f, a); fputc('\n', stderr); va_end(a); }
#define TRACE(...) do { if (kTrace) say(__VA_ARGS__); } while (0)
struct Ctx;
struct Stream {   // in-order work queue
  Ctx* ctx; bool blocking; std::mutex m; std::condition_variable cv; std::deque<std::function<void()>> q; uint64_t put = 0, done = 0; bool stop = false; std::thread th;
  Stream(Ctx* c, bool b) : ctx(c), blocking(b) { if (kAsync) th = std::thread([this] { loop(); }); }
  ~Stream() { { std::lock_guard<std::mutex> l(m); stop = true; } cv.notify_all(); if (th.joinable()) th.join(); }
  void loop();
  void add(std::function<void()> f);
  void drain() { if (!kAsync) return; std::unique_lock<std::mutex> l(m); uint64_t w = put; cv.wait(l, [&] { return done >= w; }); }
  bool idle() { std::lock_guard<std::mutex> l(m); return done == put; }
};
struct Ctx { int dev; std::mutex m; std::set<Stream*> streams; std::atomic<int> sticky{0}; size_t used = 0; int refs = 0; };
struct Event { std::mutex m; std::condition_variable cv; uint64_t rec = 0, done = 0; Clock::time_point t; };
struct Func { void* run; const unsigned* sizes; unsigned count; std::string name; };
struct Mod { void* so; std::map<std::string, Func*> f; int fd = -1; };
struct Alloc { size_t n; int dev; bool host; };
std::mutex gm; std::map<uintptr_t, Alloc> mem; std::vector<Ctx*> ctxs; std::atomic<bool> inited{false};
thread_local Ctx* cur = nullptr; thread_local std::vector<Ctx*> stack; thread_local Ctx* workerCtx = nullptr;
void Stream::loop() { workerCtx = cur = ctx; std::unique_lock<std::mutex> l(m);
  for (;;) { cv.wait(l, [&] { return stop || !q.empty(); }); if (q.empty()) return;
    auto f = std::move(q.front()); q.pop_front(); l.unlock(); f(); l.lock(); ++done; cv.notify_all(); } }
void Stream::add(std::function<void()> f) { if (!kAsync) { f(); return; } { std::lock_guard<std::mutex> l(m); q.push_back(std::move(f)); ++put; } cv.notify_all(); }
void drainAll(Ctx* c, bool blockingOnly) { std::vector<Stream*> v; { std::lock_guard<std::mutex> l(c->m); for (auto* s : c->streams) if (!blockingOnly || s->blocking) v.push_back(s); } for (auto* s : v) s->drain(); }
bool isNull(CUstream s) { return s == nullptr || s == CU_STREAM_LEGACY || s == CU_STREAM_PER_THREAD; }
// The null stream waits for all blocking streams and runs at once.
void enqueue(CUstream s, std::function<void()> f) { if (isNull(s)) { drainAll(cur, true); f(); } else ((Stream*)s)->add(std::move(f)); }
Alloc* find(uintptr_t p, uintptr_t* base = nullptr) { auto it = mem.upper_bound(p); if (it == mem.begin()) return nullptr; --it; if (p >= it->first + it->second.n) return nullptr; if (base) *base = it->first; return &it->second; }
// Is [p, p+n) inside one device allocation of the current device?
bool okDev(uintptr_t p, size_t n, const char* who) {
  if (!n) return true; std::lock_guard<std::mutex> l(gm); uintptr_t b; Alloc* a = find(p, &b);
  if (!a) { say("%s: %p is no device address", who, (void*)p); return false; }
  if (p + n > b + a->n) { say("%s: %zu bytes at %p run past the allocation of %zu bytes", who, n, (void*)p, a->n); return false; }
  return true; }
#define NEED_CTX if (!inited) return CUDA_ERROR_NOT_INITIALIZED; if (!cur) return CUDA_ERROR_INVALID_CONTEXT; if (cur->sticky) return (CUresult)cur->sticky.load()
CUresult allocDev(CUdeviceptr* p, size_t n) {
  NEED_CTX; if (!n) return CUDA_ERROR_INVALID_VALUE;
  std::lock_guard<std::mutex> l(gm); if (cur->used + n > kTotal) return CUDA_ERROR_OUT_OF_MEMORY;
  size_t pg = 4096, r = (n + pg - 1) / pg * pg;               // GUARD bytes without access on both sides; address space costs nothing
  char* m = (char*)mmap(nullptr, r + 2 * GUARD, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (m == MAP_FAILED) return CUDA_ERROR_OUT_OF_MEMORY;
  m += GUARD; mprotect(m, r, PROT_READ | PROT_WRITE);
  size_t off = (r - n) & ~(size_t)255;                         // push towards the guard page, kept 256-byte aligned
  memset(m + off, 0xFF, n < (64 << 20) ? n : (64 << 20));      // NaN: reading unset memory shows
  mem[(uintptr_t)m + off] = {n, cur->dev, false}; cur->used += n; *p = (CUdeviceptr)(m + off); return CUDA_SUCCESS; }
CUresult freeDev(CUdeviceptr p) { if (!p) return CUDA_SUCCESS; std::lock_guard<std::mutex> l(gm); auto it = mem.find(p); if (it == mem.end() || it->second.host) { say("cuMemFree: %p was not allocated", (void*)p); return CUDA_ERROR_INVALID_VALUE; }
  size_t n = it->second.n, pg = 4096, r = (n + pg - 1) / pg * pg; ctxs[it->second.dev]->used -= n; munmap((char*)p - ((r - n) & ~(size_t)255) - GUARD, r + 2 * GUARD); mem.erase(it); return CUDA_SUCCESS; }
CUresult copy(void* d, const void* s, size_t n, CUstream st, bool dDev, bool sDev, const char* who, bool sync) {
  NEED_CTX; if ((dDev && !okDev((uintptr_t)d, n, who)) || (sDev && !okDev((uintptr_t)s, n, who))) return CUDA_ERROR_INVALID_VALUE;
  TRACE("%s %zu", who, n);
  if (!sync && dDev != sDev && kAsync && !isNull(st)) {          // pageable host memory, as the driver treats it: staged before HtoD returns, DtoH waits
    bool pinned; { std::lock_guard<std::mutex> l(gm); Alloc* a = find((uintptr_t)(dDev ? s : d)); pinned = a && a->host; }
    if (!pinned && dDev) { auto v = std::make_shared<std::vector<char>>((const char*)s, (const char*)s + n); enqueue(st, [=] { memcpy(d, v->data(), n); }); return CUDA_SUCCESS; }
    if (!pinned) { enqueue(st, [=] { memmove(d, s, n); }); ((Stream*)st)->drain(); return CUDA_SUCCESS; } }
  enqueue(sync ? nullptr : st, [=] { memmove(d, s, n); }); return CUDA_SUCCESS; }
template <class T> CUresult fill(CUdeviceptr p, T v, size_t n, CUstream s, const char* who) { NEED_CTX; if (!okDev(p, n * sizeof(T), who)) return CUDA_ERROR_INVALID_VALUE;
  enqueue(s, [=] { T* q = (T*)p; for (size_t i = 0; i < n; i++) q[i] = v; }); return CUDA_SUCCESS; }
// A bad address in a kernel gives CUDA_ERROR_ILLEGAL_ADDRESS, as on a GPU; every other fault goes on to the JVM's handler.
thread_local sigjmp_buf* jump = nullptr; struct sigaction oldSegv, oldBus;
void onFault(int sig, siginfo_t* i, void* u) {
  if (jump) { say("illegal address %p in a kernel", i->si_addr); siglongjmp(*jump, 1); }
  struct sigaction& o = sig == SIGSEGV ? oldSegv : oldBus; if (o.sa_flags & SA_SIGINFO) o.sa_sigaction(sig, i, u); else { sigaction(sig, &o, nullptr); } }
int guarded(const std::function<int()>& f) { sigjmp_buf b; if (sigsetjmp(b, 1)) { jump = nullptr; return CUDA_ERROR_ILLEGAL_ADDRESS; } jump = &b; int rc = f(); jump = nullptr; return rc; }
void installFault() { struct sigaction a; memset(&a, 0, sizeof a); a.sa_sigaction = onFault; a.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK; sigaction(SIGSEGV, &a, &oldSegv); sigaction(SIGBUS, &a, &oldBus); }
}  // namespace

API CUresult cuInit(unsigned) { std::lock_guard<std::mutex> l(gm); if (!inited) { for (int i = 0, n = envInt("CUSIM_DEVICES", 8); i < n; i++) { auto* c = new Ctx; c->dev = i; ctxs.push_back(c); } installFault(); inited = true; } return CUDA_SUCCESS; }
API CUresult cuDriverGetVersion(int* v) { *v = 13000; return CUDA_SUCCESS; }
API CUresult cuDeviceGetCount(int* n) { if (!inited) return CUDA_ERROR_NOT_INITIALIZED; *n = (int)ctxs.size(); return CUDA_SUCCESS; }
API CUresult cuDeviceGet(CUdevice* d, int i) { if (!inited) return CUDA_ERROR_NOT_INITIALIZED; if (i < 0 || i >= (int)ctxs.size()) return CUDA_ERROR_INVALID_DEVICE; *d = i; return CUDA_SUCCESS; }
API CUresult cuDeviceGetName(char* s, int n, CUdevice d) { snprintf(s, n, "cusim host device %d", d); return CUDA_SUCCESS; }
API CUresult cuDeviceTotalMem(size_t* n, CUdevice) { *n = kTotal; return CUDA_SUCCESS; }
API CUresult cuDeviceComputeCapability(int* a, int* b, CUdevice) { *a = 9; *b = 0; return CUDA_SUCCESS; }
API CUresult cuDeviceGetUuid(CUuuid* u, CUdevice d) { memset(u, 0, sizeof *u); memcpy(u, "cusim", 5); u->bytes[15] = (char)d; return CUDA_SUCCESS; }
API CUresult cuDeviceGetUuid_v2(CUuuid* u, CUdevice d) { return cuDeviceGetUuid(u, d); }
API CUresult cuDeviceGetPCIBusId(char* s, int n, CUdevice d) { snprintf(s, n, "0000:%02x:00.0", d + 1); return CUDA_SUCCESS; }
API CUresult cuDeviceCanAccessPeer(int* c, CUdevice, CUdevice) { *c = 1; return CUDA_SUCCESS; }
API CUresult cuDeviceGetAttribute(int* v, CUdevice_attribute a, CUdevice) {
  switch ((int)a) { case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK: case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X: case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y: *v = 1024; break;
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z: *v = 64; break; case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X: *v = 2147483647; break; case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y: case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z: *v = 65535; break;
    case CU_DEVICE_ATTRIBUTE_WARP_SIZE: *v = 32; break; case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT: *v = 4; break; case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK: *v = 49152; break;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN: *v = 232448; break; case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR: *v = 233472; break; case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR: *v = 2048; break;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR: *v = 9; break; case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR: *v = 0; break; case CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING: case CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED: *v = 1; break; default: *v = 0; }
  return CUDA_SUCCESS; }
API CUresult cuDevicePrimaryCtxRetain(CUcontext* c, CUdevice d) { if (!inited) return CUDA_ERROR_NOT_INITIALIZED; if (d < 0 || d >= (int)ctxs.size()) return CUDA_ERROR_INVALID_DEVICE; ctxs[d]->refs++; *c = (CUcontext)ctxs[d]; return CUDA_SUCCESS; }
API CUresult cuDevicePrimaryCtxRelease(CUdevice d) { if (d < 0 || d >= (int)ctxs.size() || ctxs[d]->refs <= 0) return CUDA_ERROR_INVALID_CONTEXT; ctxs[d]->refs--; return CUDA_SUCCESS; }
API CUresult cuDevicePrimaryCtxGetState(CUdevice d, unsigned* f, int* a) { *f = 0; *a = ctxs[d]->refs > 0; return CUDA_SUCCESS; }
API CUresult cuCtxSetCurrent(CUcontext c) { cur = (Ctx*)c; return CUDA_SUCCESS; }
API CUresult cuCtxGetCurrent(CUcontext* c) { *c = (CUcontext)cur; return CUDA_SUCCESS; }
API CUresult cuCtxPushCurrent(CUcontext c) { stack.push_back(cur); cur = (Ctx*)c; return CUDA_SUCCESS; }
API CUresult cuCtxPopCurrent(CUcontext* c) { if (!cur) return CUDA_ERROR_INVALID_CONTEXT; if (c) *c = (CUcontext)cur; cur = stack.empty() ? nullptr : stack.back(); if (!stack.empty()) stack.pop_back(); return CUDA_SUCCESS; }
API CUresult cuCtxGetDevice(CUdevice* d) { if (!cur) return CUDA_ERROR_INVALID_CONTEXT; *d = cur->dev; return CUDA_SUCCESS; }
API CUresult cuCtxSynchronize(void) { NEED_CTX; drainAll(cur, false); return (CUresult)cur->sticky.load(); }
API CUresult cuCtxGetStreamPriorityRange(int* l, int* g) { *l = 0; *g = -5; return CUDA_SUCCESS; }

API CUresult cuMemGetInfo(size_t* f, size_t* t) { NEED_CTX; std::lock_guard<std::mutex> l(gm); *f = kTotal - cur->used; *t = kTotal; return CUDA_SUCCESS; }
API CUresult cuMemAlloc(CUdeviceptr* p, size_t n) { return allocDev(p, n); }
API CUresult cuMemFree(CUdeviceptr p) { NEED_CTX; drainAll(cur, false); return freeDev(p); }
API CUresult cuMemAllocAsync(CUdeviceptr* p, size_t n, CUstream) { return allocDev(p, n); }
API CUresult cuMemFreeAsync(CUdeviceptr p, CUstream s) { NEED_CTX; { std::lock_guard<std::mutex> l(gm); if (!mem.count(p)) return CUDA_ERROR_INVALID_VALUE; } enqueue(s, [=] { freeDev(p); }); return CUDA_SUCCESS; }
API CUresult cuMemHostAlloc(void** p, size_t n, unsigned) { NEED_CTX; if (posix_memalign(p, 4096, n)) return CUDA_ERROR_OUT_OF_MEMORY; std::lock_guard<std::mutex> l(gm); mem[(uintptr_t)*p] = {n, cur->dev, true}; return CUDA_SUCCESS; }
API CUresult cuMemAllocHost(void** p, size_t n) { return cuMemHostAlloc(p, n, 0); }
API CUresult cuMemFreeHost(void* p) { NEED_CTX; drainAll(cur, false); std::lock_guard<std::mutex> l(gm); auto it = mem.find((uintptr_t)p); if (it == mem.end() || !it->second.host) return CUDA_ERROR_INVALID_VALUE; mem.erase(it); free(p); return CUDA_SUCCESS; }
API CUresult cuMemHostGetDevicePointer(CUdeviceptr* d, void* p, unsigned) { *d = (CUdeviceptr)p; return CUDA_SUCCESS; }
API CUresult cuMemGetAddressRange(CUdeviceptr* b, size_t* n, CUdeviceptr p) { std::lock_guard<std::mutex> l(gm); uintptr_t base; Alloc* a = find(p, &base); if (!a) return CUDA_ERROR_NOT_FOUND; if (b) *b = base; if (n) *n = a->n; return CUDA_SUCCESS; }
API CUresult cuPointerGetAttribute(void* o, CUpointer_attribute a, CUdeviceptr p) { std::lock_guard<std::mutex> l(gm); Alloc* x = find(p); if (!x) return CUDA_ERROR_INVALID_VALUE;
  switch ((int)a) { case CU_POINTER_ATTRIBUTE_MEMORY_TYPE: *(unsigned*)o = x->host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE; return CUDA_SUCCESS; case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: *(int*)o = x->dev; return CUDA_SUCCESS; case CU_POINTER_ATTRIBUTE_DEVICE_POINTER: *(CUdeviceptr*)o = p; return CUDA_SUCCESS; case CU_POINTER_ATTRIBUTE_CONTEXT: *(CUcontext*)o = (CUcontext)ctxs[x->dev]; return CUDA_SUCCESS; default: return CUDA_ERROR_NOT_SUPPORTED; } }
API CUresult cuMemcpyHtoD(CUdeviceptr d, const void* s, size_t n) { return copy((void*)d, s, n, 0, true, false, "cuMemcpyHtoD", true); }
API CUresult cuMemcpyDtoH(void* d, CUdeviceptr s, size_t n) { return copy(d, (void*)s, n, 0, false, true, "cuMemcpyDtoH", true); }
API CUresult cuMemcpyDtoD(CUdeviceptr d, CUdeviceptr s, size_t n) { return copy((void*)d, (void*)s, n, 0, true, true, "cuMemcpyDtoD", true); }
API CUresult cuMemcpy(CUdeviceptr d, CUdeviceptr s, size_t n) { return copy((void*)d, (void*)s, n, 0, false, false, "cuMemcpy", true); }
API CUresult cuMemcpyAsync(CUdeviceptr d, CUdeviceptr s, size_t n, CUstream st) { return copy((void*)d, (void*)s, n, st, false, false, "cuMemcpyAsync", false); }
API CUresult cuMemcpyHtoDAsync(CUdeviceptr d, const void* s, size_t n, CUstream st) { return copy((void*)d, s, n, st, true, false, "cuMemcpyHtoDAsync", false); }
API CUresult cuMemcpyDtoHAsync(void* d, CUdeviceptr s, size_t n, CUstream st) { return copy(d, (void*)s, n, st, false, true, "cuMemcpyDtoHAsync", false); }
API CUresult cuMemcpyDtoDAsync(CUdeviceptr d, CUdeviceptr s, size_t n, CUstream st) { return copy((void*)d, (void*)s, n, st, true, true, "cuMemcpyDtoDAsync", false); }
API CUresult cuMemcpyPeerAsync(CUdeviceptr d, CUcontext, CUdeviceptr s, CUcontext, size_t n, CUstream st) { return cuMemcpyDtoDAsync(d, s, n, st); }
API CUresult cuMemsetD8(CUdeviceptr p, unsigned char v, size_t n) { return fill(p, v, n, 0, "cuMemsetD8"); }
API CUresult cuMemsetD16(CUdeviceptr p, unsigned short v, size_t n) { return fill(p, v, n, 0, "cuMemsetD16"); }
API CUresult cuMemsetD32(CUdeviceptr p, unsigned v, size_t n) { return fill(p, v, n, 0, "cuMemsetD32"); }
API CUresult cuMemsetD8Async(CUdeviceptr p, unsigned char v, size_t n, CUstream s) { return fill(p, v, n, s, "cuMemsetD8Async"); }
API CUresult cuMemsetD16Async(CUdeviceptr p, unsigned short v, size_t n, CUstream s) { return fill(p, v, n, s, "cuMemsetD16Async"); }
API CUresult cuMemsetD32Async(CUdeviceptr p, unsigned v, size_t n, CUstream s) { return fill(p, v, n, s, "cuMemsetD32Async"); }

API CUresult cuStreamCreate(CUstream* s, unsigned f) { NEED_CTX; auto* x = new Stream(cur, !(f & CU_STREAM_NON_BLOCKING)); std::lock_guard<std::mutex> l(cur->m); cur->streams.insert(x); *s = (CUstream)x; return CUDA_SUCCESS; }
API CUresult cuStreamCreateWithPriority(CUstream* s, unsigned f, int) { return cuStreamCreate(s, f); }
API CUresult cuStreamDestroy(CUstream s) { if (isNull(s)) return CUDA_ERROR_INVALID_HANDLE; auto* x = (Stream*)s; { std::lock_guard<std::mutex> l(x->ctx->m); if (!x->ctx->streams.erase(x)) return CUDA_ERROR_INVALID_HANDLE; } x->drain(); delete x; return CUDA_SUCCESS; }
API CUresult cuStreamSynchronize(CUstream s) { NEED_CTX; if (isNull(s)) drainAll(cur, true); else ((Stream*)s)->drain(); return (CUresult)cur->sticky.load(); }
API CUresult cuStreamQuery(CUstream s) { NEED_CTX; return isNull(s) || !kAsync || ((Stream*)s)->idle() ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY; }
API CUresult cuStreamGetCtx(CUstream s, CUcontext* c) { *c = (CUcontext)(isNull(s) ? cur : ((Stream*)s)->ctx); return CUDA_SUCCESS; }
API CUresult cuStreamIsCapturing(CUstream, CUstreamCaptureStatus* s) { *s = CU_STREAM_CAPTURE_STATUS_NONE; return CUDA_SUCCESS; }
API CUresult cuLaunchHostFunc(CUstream s, CUhostFn f, void* d) { NEED_CTX; enqueue(s, [=] { f(d); }); return CUDA_SUCCESS; }
API CUresult cuEventCreate(CUevent* e, unsigned) { NEED_CTX; *e = (CUevent) new Event; return CUDA_SUCCESS; }
API CUresult cuEventDestroy(CUevent e) { if (!e) return CUDA_ERROR_INVALID_HANDLE; Event* x = (Event*)e; { std::unique_lock<std::mutex> l(x->m); x->cv.wait(l, [&] { return x->done >= x->rec; }); } delete x; return CUDA_SUCCESS; }
API CUresult cuEventRecord(CUevent e, CUstream s) { NEED_CTX; Event* x = (Event*)e; uint64_t k; { std::lock_guard<std::mutex> l(x->m); k = ++x->rec; } enqueue(s, [=] { { std::lock_guard<std::mutex> l(x->m); x->done = k; x->t = Clock::now(); x->cv.notify_all(); } }); return CUDA_SUCCESS; }
API CUresult cuEventRecordWithFlags(CUevent e, CUstream s, unsigned) { return cuEventRecord(e, s); }
API CUresult cuEventSynchronize(CUevent e) { Event* x = (Event*)e; std::unique_lock<std::mutex> l(x->m); uint64_t w = x->rec; x->cv.wait(l, [&] { return x->done >= w; }); return CUDA_SUCCESS; }
API CUresult cuEventQuery(CUevent e) { Event* x = (Event*)e; std::lock_guard<std::mutex> l(x->m); return x->done >= x->rec ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY; }
API CUresult cuEventElapsedTime(float* ms, CUevent a, CUevent b) { Event *x = (Event*)a, *y = (Event*)b; if (!x->done || !y->done) return CUDA_ERROR_INVALID_HANDLE; *ms = std::chrono::duration<float, std::milli>(y->t - x->t).count(); return CUDA_SUCCESS; }
API CUresult cuEventElapsedTime_v2(float* ms, CUevent a, CUevent b) { return cuEventElapsedTime(ms, a, b); }
API CUresult cuStreamWaitEvent(CUstream s, CUevent e, unsigned) { NEED_CTX; Event* x = (Event*)e; uint64_t w; { std::lock_guard<std::mutex> l(x->m); w = x->rec; } enqueue(s, [=] { std::unique_lock<std::mutex> l(x->m); x->cv.wait(l, [&] { return x->done >= w; }); }); return CUDA_SUCCESS; }

API CUresult cuModuleLoadData(CUmodule* mod, const void* image) {
  NEED_CTX; const unsigned char* p = (const unsigned char*)image; void* so = nullptr; int fd = -1;
  if (!memcmp(p, ELFMAG, 4)) {
    auto* h = (const Elf64_Ehdr*)p;
    if (h->e_machine != EM_X86_64) { say("cuModuleLoadData: this is a real GPU cubin (e_machine %d); the simulator needs one from the simulated NVRTC", h->e_machine); return CUDA_ERROR_NO_BINARY_FOR_GPU; }
    size_t n = h->e_shoff + (size_t)h->e_shnum * h->e_shentsize;   // the linker puts the section table last
    fd = memfd_create("cusim-module", MFD_CLOEXEC); if (fd < 0 || write(fd, p, n) != (ssize_t)n) return CUDA_ERROR_OPERATING_SYSTEM;
    char path[64]; snprintf(path, sizeof path, "/proc/self/fd/%d", fd); so = dlopen(path, RTLD_NOW | RTLD_LOCAL); if (!so) close(fd);   // open while it is loaded: a number used again would be a name used again, for which dlopen gives the earlier module
  } else if (!strncmp((const char*)p, "//CUSIM ", 8)) { const char* s = (const char*)p + 8; so = dlopen(std::string(s, strcspn(s, "\n")).c_str(), RTLD_NOW | RTLD_LOCAL);
  } else { say("cuModuleLoadData: PTX text cannot run in the simulator"); return CUDA_ERROR_INVALID_PTX; }
  if (!so) { say("cuModuleLoadData: %s", dlerror()); return CUDA_ERROR_INVALID_IMAGE; }
  *mod = (CUmodule) new Mod{so, {}, fd}; return CUDA_SUCCESS; }
API CUresult cuModuleLoadDataEx(CUmodule* m, const void* i, unsigned, CUjit_option*, void**) { return cuModuleLoadData(m, i); }
API CUresult cuModuleUnload(CUmodule m) { NEED_CTX; drainAll(cur, false); Mod* x = (Mod*)m; for (auto& f : x->f) delete f.second; dlclose(x->so); if (x->fd >= 0) close(x->fd); delete x; return CUDA_SUCCESS; }
API CUresult cuModuleGetFunction(CUfunction* f, CUmodule m, const char* name) {
  Mod* x = (Mod*)m; auto it = x->f.find(name); if (it != x->f.end()) { *f = (CUfunction)it->second; return CUDA_SUCCESS; }
  void* r = dlsym(x->so, (std::string("__cusim_run_") + name).c_str()); if (!r) return CUDA_ERROR_NOT_FOUND;
  auto sz = (const unsigned* (*)())dlsym(x->so, (std::string("__cusim_sizes_") + name).c_str()); auto ct = (unsigned (*)())dlsym(x->so, (std::string("__cusim_count_") + name).c_str());
  *f = (CUfunction)(x->f[name] = new Func{r, sz(), ct(), name}); return CUDA_SUCCESS; }
API CUresult cuFuncSetAttribute(CUfunction, CUfunction_attribute, int) { return CUDA_SUCCESS; }
API CUresult cuFuncGetAttribute(int* v, CUfunction_attribute a, CUfunction) { *v = a == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK ? 1024 : 0; return CUDA_SUCCESS; }
API CUresult cuLaunchKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned sh, CUstream s, void** params, void** extra) {
  NEED_CTX; Func* k = (Func*)f; if (!f || extra) return CUDA_ERROR_INVALID_VALUE;
  if (!gx || !gy || !gz || !bx || !by || !bz || (size_t)bx * by * bz > 1024 || gy > 65535 || gz > 65535 || bz > 64 || sh > 232448) { say("cuLaunchKernel %s: grid %u,%u,%u block %u,%u,%u shared %u is out of range", k->name.c_str(), gx, gy, gz, bx, by, bz, sh); return CUDA_ERROR_INVALID_VALUE; }
  std::vector<std::vector<char>> a; for (unsigned i = 0; i < k->count; i++) a.emplace_back((char*)params[i], (char*)params[i] + k->sizes[i]);   // a launch copies its arguments
  TRACE("launch %s<<<%u,%u>>>", k->name.c_str(), gx, bx); Ctx* c = cur;
  enqueue(s, [=]() mutable { std::vector<void*> p; for (auto& v : a) p.push_back(v.data()); Launch L{{gx, gy, gz}, {bx, by, bz}, sh};
    if (c->sticky) return; int rc = guarded([&] { return ((int (*)(void**, const Launch*))k->run)(p.data(), &L); }); if (rc) c->sticky = rc; });
  return (CUresult)c->sticky.load(); }
API CUresult cuGetErrorName(CUresult r, const char** s) { switch ((int)r) {
#define E(x) case x: *s = #x; return CUDA_SUCCESS;
  E(CUDA_SUCCESS) E(CUDA_ERROR_INVALID_VALUE) E(CUDA_ERROR_OUT_OF_MEMORY) E(CUDA_ERROR_NOT_INITIALIZED) E(CUDA_ERROR_INVALID_DEVICE) E(CUDA_ERROR_INVALID_CONTEXT) E(CUDA_ERROR_INVALID_IMAGE) E(CUDA_ERROR_NO_BINARY_FOR_GPU) E(CUDA_ERROR_INVALID_PTX) E(CUDA_ERROR_NOT_FOUND) E(CUDA_ERROR_NOT_READY) E(CUDA_ERROR_INVALID_HANDLE) E(CUDA_ERROR_LAUNCH_FAILED) E(CUDA_ERROR_ILLEGAL_ADDRESS) E(CUDA_ERROR_NOT_SUPPORTED)
  default: *s = nullptr; return CUDA_ERROR_INVALID_VALUE; } }
API CUresult cuGetErrorString(CUresult r, const char** s) { return cuGetErrorName(r, s); }
API CUresult cuGetProcAddress_v2(const char* n, void** f, int v, cuuint64_t, CUdriverProcAddressQueryResult* q) {
  static void* self = [] { Dl_info i; dladdr((void*)&cuInit, &i); return dlopen(i.dli_fname, RTLD_NOW | RTLD_NOLOAD); }();
  std::string base = n; void* r = nullptr; for (const char* suf : {"_v3", "_v2", ""}) if ((r = dlsym(self, (base + suf).c_str()))) break;
  TRACE("cuGetProcAddress %s -> %p", n, r); *f = r; if (q) *q = r ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND; return r ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND; }
API CUresult cuGetProcAddress(const char* n, void** f, int v, cuuint64_t fl) { return cuGetProcAddress_v2(n, f, v, fl, nullptr); }
API CUresult cuGetExportTable(const void** t, const CUuuid* id) { if (kTrace) { char b[40]; for (int i = 0; i < 16; i++) snprintf(b + 2 * i, 3, "%02x", (unsigned char)id->bytes[i]); say("cuGetExportTable %s", b); } *t = nullptr; return CUDA_ERROR_NOT_FOUND; }
