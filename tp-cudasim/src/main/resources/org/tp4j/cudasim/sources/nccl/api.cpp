// Simulated NCCL: a libnccl.so.2 for tests, over POSIX shared memory, for ranks that are processes or threads of one
// machine with a simulated device each. Work goes onto streams of the simulated driver as host functions, so it runs in
// stream order and within captured graphs.
//
// It behaves as NCCL where that is unpleasant: ranks that disagree, or a rank that never comes, make the others' streams
// hang until they abort; sends wait for their receives; calls on one communicator run one after the other in the order in
// which they were issued, whatever the streams; the first collective on a blocking communicator connects the ranks, so the
// host waits there until all have made it; a communicator cannot end while a graph holds calls on it; calls of non-blocking communicators are on their streams only once
// ncclCommGetAsyncError has said so; two ranks on one device are refused; sizes of zero do nothing.
// Beyond NCCL it refuses memory that is not one allocation of the communicator's device, and counts communicators among what
// the simulator reports as leaked when the process ends.
// CUSIM_NCCL_REPORT=1: mismatches, and peers that have died or aborted, become asynchronous errors.
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstring>

#include "nccl/simnccl.h"

#define API extern "C" __attribute__((visibility("default")))

using namespace simnccl;

static constexpr int VERSION = 22800;

API int ncclGetVersion(int* version) {
    if (!version) return INVALID_ARGUMENT;
    *version = VERSION;
    return SUCCESS;
}

API int ncclGetUniqueId(UniqueId* id) {
    if (!id) return INVALID_ARGUMENT;
    static std::atomic<int> counter{0};
    sweep();
    memset(id, 0, sizeof *id);
    auto now = std::chrono::steady_clock::now().time_since_epoch().count();
    snprintf(id->text, sizeof id->text, "%s%d-%d-%llx", ID_PREFIX, getpid(), counter++, static_cast<unsigned long long>(now));
    return SUCCESS;
}

API int ncclCommInitRank(Communicator** comm, int ranks, UniqueId id, int rank) { return init(comm, ranks, id, rank, true); }

API int ncclCommInitRankConfig(Communicator** comm, int ranks, UniqueId id, int rank, const Config* config) {
    bool blocking = true;
    if (int error = blockingOf(config, true, &blocking)) return error;
    return init(comm, ranks, id, rank, blocking);
}

API int ncclCommSplit(Communicator* comm, int color, int key, Communicator** out, const Config* config) {
    if (int error = ready(comm, "ncclCommSplit")) return error;
    if (!out || color < -1) return fail(INVALID_ARGUMENT, "ncclCommSplit: color %d", color);
    bool blocking = comm->blocking;
    if (int error = blockingOf(config, comm->blocking, &blocking)) return error;
    *out = nullptr;
    if (comm->blocking) {
        Inside inside(comm);
        return split(comm, color, key, out, blocking);
    }
    inBackground(comm, [=] { return split(comm, color, key, out, blocking); });
    return IN_PROGRESS;
}

API int ncclCommGetAsyncError(Communicator* comm, int* error) {
    if (!comm || !error) return INVALID_ARGUMENT;
    *error = poll(comm);
    return SUCCESS;
}

API int ncclCommAbort(Communicator* comm) {
    if (!comm) return SUCCESS;
    comm->aborting = true;
    if (comm->background.joinable()) comm->background.join();
    if (comm->segment) comm->segment->aborted = 1;
    while (comm->inside > 0) usleep(100);
    if (int error = awaitGraphs(comm, "ncclCommAbort")) return error;
    end(comm);
    return SUCCESS;
}

API int ncclCommFinalize(Communicator* comm) {
    if (int error = ready(comm, "ncclCommFinalize")) return error;
    Inside inside(comm);
    comm->drain();
    return comm->state;
}

API int ncclCommDestroy(Communicator* comm) {
    if (!comm) return SUCCESS;
    if (int error = awaitGraphs(comm, "ncclCommDestroy")) return error;
    end(comm);
    return SUCCESS;
}

API int ncclCommCount(Communicator* comm, int* ranks) {
    if (!comm || !ranks) return INVALID_ARGUMENT;
    *ranks = comm->ranks;
    return SUCCESS;
}

API int ncclCommUserRank(Communicator* comm, int* rank) {
    if (!comm || !rank) return INVALID_ARGUMENT;
    *rank = comm->rank;
    return SUCCESS;
}

API int ncclCommCuDevice(Communicator* comm, int* device) {
    if (!comm || !device) return INVALID_ARGUMENT;
    *device = comm->device;
    return SUCCESS;
}

API const char* ncclGetErrorString(int result) {
    static const char* texts[] = {"no error", "unhandled cuda error", "unhandled system error", "internal error",
                                  "invalid argument", "invalid usage", "remote process exited or there was a network error",
                                  "NCCL operation in progress"};
    return result >= SUCCESS && result <= IN_PROGRESS ? texts[result] : "unknown result code";
}

API const char* ncclGetLastError(Communicator*) {
    static thread_local std::string text;
    text = lastError();
    return text.c_str();
}

API int ncclGroupStart() {
    groupStart();
    return SUCCESS;
}

API int ncclGroupEnd() { return groupEnd(); }

API int ncclAllReduce(const void* send, void* recv, size_t count, int type, int op, Communicator* comm, CUstream stream) {
    return start(comm, {ALL_REDUCE, send, recv, count, type, op, 0, stream});
}

API int ncclAllGather(const void* send, void* recv, size_t count, int type, Communicator* comm, CUstream stream) {
    return start(comm, {ALL_GATHER, send, recv, count, type, SUM, 0, stream});
}

API int ncclReduceScatter(const void* send, void* recv, size_t count, int type, int op, Communicator* comm, CUstream stream) {
    return start(comm, {REDUCE_SCATTER, send, recv, count, type, op, 0, stream});
}

API int ncclBroadcast(const void* send, void* recv, size_t count, int type, int root, Communicator* comm, CUstream stream) {
    return start(comm, {BROADCAST, send, recv, count, type, SUM, root, stream});
}

API int ncclReduce(const void* send, void* recv, size_t count, int type, int op, int root, Communicator* comm, CUstream stream) {
    return start(comm, {REDUCE, send, recv, count, type, op, root, stream});
}

API int ncclAlltoAll(const void* send, void* recv, size_t count, int type, Communicator* comm, CUstream stream) {
    return start(comm, {ALL_TO_ALL, send, recv, count, type, SUM, 0, stream});
}

API int ncclSend(const void* send, size_t count, int type, int peer, Communicator* comm, CUstream stream) {
    return start(comm, {SEND, send, nullptr, count, type, SUM, peer, stream});
}

API int ncclRecv(void* recv, size_t count, int type, int peer, Communicator* comm, CUstream stream) {
    return start(comm, {RECV, nullptr, recv, count, type, SUM, peer, stream});
}
