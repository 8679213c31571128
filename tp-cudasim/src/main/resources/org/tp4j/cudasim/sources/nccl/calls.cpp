// Simulated NCCL: checking calls, groups, putting work on streams, making communicators.
#include <cstdio>
#include <cstring>
#include <map>
#include <set>

#include "nccl/simnccl.h"

namespace simnccl {

const char ID_PREFIX[] = "/cusim-nccl-";

namespace {

constexpr unsigned CONFIG_MAGIC = 0xcafebeef;
constexpr int UNSET = -2147483648;

std::mutex liveMutex;
std::set<Communicator*> live;  // for graphs, which may be run when their communicator has ended

}  // namespace

Communicator::Communicator(int rank, int ranks, int device, bool blocking, std::string name)
    : rank(rank), ranks(ranks), device(device), blocking(blocking), name(std::move(name)) {
    cuDevicePrimaryCtxRetain(&context, device);
    std::lock_guard<std::mutex> lock(liveMutex);
    live.insert(this);
    cusimCount("NCCL communicators", device, 1);
}

Communicator::~Communicator() {
    if (background.joinable()) background.join();
    detach(this);
    cuDevicePrimaryCtxRelease_v2(device);
    {
        std::lock_guard<std::mutex> lock(liveMutex);
        live.erase(this);
    }
    cusimCount("NCCL communicators", device, -1);
}

void Communicator::drain() {
    std::unique_lock<std::mutex> lock(mutex);
    changed.wait(lock, [&] { return completed == issued; });
}

namespace {

// ---- Groups: what a thread has called since ncclGroupStart ----

struct Call {
    Communicator* c;
    Op op;
};

struct Init {
    Communicator* c;
    Communicator** out;
    int result;
};

struct Group {
    int depth = 0;
    int error = SUCCESS;
    std::vector<Call> calls;
    std::vector<Init> inits;
};

thread_local Group group;

// Of a call within a group: the group fails as a whole.
int remember(int result) {
    if (group.depth && result && result != IN_PROGRESS) group.error = result;
    return result;
}

// ---- Work on streams ----

struct Work {
    Communicator* c;
    std::vector<Op> ops;
    uint64_t ticket;
    bool captured;

    void run() {
        std::unique_lock<std::mutex> one;
        if (captured) {
            std::lock_guard<std::mutex> lock(liveMutex);
            if (!live.count(c)) {
                fail(INVALID_USAGE, "a graph is run whose communicator has ended");
                return;
            }
            one = std::unique_lock<std::mutex>(c->running);
        } else {
            std::unique_lock<std::mutex> lock(c->mutex);
            c->changed.wait(lock, [&] { return c->completed == ticket; });
            lock.unlock();
            one = std::unique_lock<std::mutex>(c->running);
        }
        int state = c->state;
        if ((state == SUCCESS || state == IN_PROGRESS) && !c->aborting) {
            int error = ops[0].kind >= SEND ? messages(c, ops) : collective(c, ops[0]);
            if (error) c->state = error;
        }
        if (captured) return;
        std::lock_guard<std::mutex> lock(c->mutex);
        c->completed++;
        c->changed.notify_all();
    }

    static void host(void* self) {
        static_cast<Work*>(self)->run();
    }

    // Once it cannot run again: a graph keeps it.
    static void release(void* self) {
        auto* work = static_cast<Work*>(self);
        if (work->captured) {
            std::lock_guard<std::mutex> lock(liveMutex);
            if (live.count(work->c)) work->c->persistent--;
        }
        delete work;
    }
};

int enqueue(Communicator* c, const std::vector<Op>& ops) {
    CUstream stream = ops[0].stream;
    CUcontext before = nullptr, own = nullptr;
    cuCtxGetCurrent(&before);
    cuCtxSetCurrent(c->context);  // as NCCL, which changes to its device and back, from whatever thread
    if (cuStreamGetCtx(stream, &own) || own != c->context) {
        cuCtxSetCurrent(before);
        return fail(CUDA_ERROR, "%s: not a stream of device %d", kindName(ops[0].kind), c->device);
    }
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    cuStreamIsCapturing(stream, &status);
    bool captured = status == CU_STREAM_CAPTURE_STATUS_ACTIVE;
    auto* work = new Work{c, ops, 0, captured};
    if (!captured) {
        std::lock_guard<std::mutex> lock(c->mutex);
        work->ticket = c->issued++;
    } else {
        c->persistent++;
    }
    CUresult result = cusimEnqueue(stream, "nccl", kindName(ops[0].kind), Work::host, work, Work::release);
    cuCtxSetCurrent(before);
    if (result == CUDA_SUCCESS) return SUCCESS;
    if (!captured) {
        std::lock_guard<std::mutex> lock(c->mutex);
        c->issued--;
    }
    return fail(CUDA_ERROR, "work could not be put on the stream: CUDA status %d", int(result));
}

// At the first collective the ranks connect: the host waits for all of them.
int connect(Communicator* c, const Op& op) {
    if (!c->blocking || c->connected || c->ranks == 1 || op.kind >= SEND || op.count == 0) return SUCCESS;
    Inside inside(c);
    if (int error = meet(c, c->segment->connect, kindName(op.kind))) return error;
    c->connected = true;
    return SUCCESS;
}

// Calls of one communicator that belong together. A non-blocking one gets to them later.
int submit(Communicator* c, const std::vector<Op>& ops) {
    if (c->blocking) return enqueue(c, ops);
    std::lock_guard<std::mutex> lock(c->mutex);
    c->deferred.push_back(ops);
    c->polls = 1;
    c->state = IN_PROGRESS;
    return IN_PROGRESS;
}

}  // namespace

int poll(Communicator* c) {
    std::vector<std::vector<Op>> due;
    {
        std::lock_guard<std::mutex> lock(c->mutex);
        if (c->deferred.empty()) return c->state;
        if (c->polls-- > 0) return IN_PROGRESS;
        due.swap(c->deferred);
    }
    int result = SUCCESS;
    for (auto& ops : due) {
        if (int error = enqueue(c, ops)) result = error;
    }
    int expected = IN_PROGRESS;
    c->state.compare_exchange_strong(expected, result);
    return c->state;
}

namespace {

// ---- Checks ----

bool onDevice(const Communicator* c, const void* address, size_t bytes, const char* what, const char* call) {
    if (!bytes) return true;
    CUdeviceptr base = 0, wanted = reinterpret_cast<CUdeviceptr>(address);
    size_t size = 0;
    int device = -1;
    if (cuMemGetAddressRange_v2(&base, &size, wanted) || wanted + bytes > base + size) {
        fail(INVALID_ARGUMENT, "%s: %s %p: %zu bytes are not inside of one device allocation", call, what, address, bytes);
        return false;
    }
    cuPointerGetAttribute(&device, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, wanted);
    if (device != c->device) {
        fail(INVALID_ARGUMENT, "%s: %s %p is of device %d, the communicator of device %d", call, what, address, device, c->device);
        return false;
    }
    return true;
}

}  // namespace

int ready(Communicator* c, const char* call) {
    if (!c) return fail(INVALID_ARGUMENT, "%s: comm is null", call);
    int state = c->state;
    if (state == IN_PROGRESS) {
        return fail(INVALID_ARGUMENT, "%s: the communicator's previous call is still in progress", call);
    }
    return state;
}

int start(Communicator* c, const Op& op) {
    const char* call = kindName(op.kind);
    if (int error = ready(c, call)) return remember(error);
    if (op.type < 0 || op.type >= TYPES) return remember(fail(INVALID_ARGUMENT, "%s: data type %d", call, op.type));
    if (op.op < 0 || op.op >= OPS) return remember(fail(INVALID_ARGUMENT, "%s: reduction %d", call, op.op));
    if (op.peer < 0 || op.peer >= c->ranks) {
        return remember(fail(INVALID_ARGUMENT, "%s: root or peer %d of %d ranks", call, op.peer, c->ranks));
    }
    size_t bytes = op.count * typeBytes(op.type), all = bytes * c->ranks;
    bool root = op.peer == c->rank;
    bool reads = op.kind != RECV && !(op.kind == BROADCAST && !root);
    bool writes = op.kind != SEND && !(op.kind == REDUCE && !root);
    bool in = op.kind == REDUCE_SCATTER || op.kind == ALL_TO_ALL, out = op.kind == ALL_GATHER || op.kind == ALL_TO_ALL;
    if ((reads && !onDevice(c, op.send, in ? all : bytes, "sendbuff", call)) ||
        (writes && !onDevice(c, op.recv, out ? all : bytes, "recvbuff", call))) {
        return remember(INVALID_ARGUMENT);
    }
    if (group.depth) {
        group.calls.push_back({c, op});
        return SUCCESS;
    }
    if (int error = connect(c, op)) return error;
    return submit(c, {op});
}

namespace {

// ---- Init and split ----

// Which device is current on this thread; -1 if none is.
int currentDevice() {
    CUdevice device;
    return cuCtxGetDevice(&device) ? -1 : device;
}

}  // namespace

void inBackground(Communicator* c, std::function<int()> job) {
    if (c->background.joinable()) c->background.join();
    c->state = IN_PROGRESS;
    c->background = std::thread([c, job] { c->state = job(); });
}

namespace {

int create(Communicator** out, int ranks, const std::string& name, int rank, bool blocking) {
    int device = currentDevice();
    if (device < 0) return fail(CUDA_ERROR, "ncclCommInitRank: no CUDA context is current on this thread");
    if (ranks < 1 || ranks > MAX_RANKS || rank < 0 || rank >= ranks) {
        return fail(INVALID_ARGUMENT, "ncclCommInitRank: rank %d of %d", rank, ranks);
    }
    auto* c = new Communicator(rank, ranks, device, blocking, name);
    if (group.depth) {
        group.inits.push_back({c, out, SUCCESS});
        return SUCCESS;
    }
    if (!blocking) {
        *out = c;
        inBackground(c, [c] { return attach(c); });
        return IN_PROGRESS;
    }
    int result = attach(c);
    if (result) {
        delete c;
    } else {
        *out = c;
    }
    return result;
}

}  // namespace

int init(Communicator** out, int ranks, const UniqueId& id, int rank, bool blocking) {
    if (!out) return fail(INVALID_ARGUMENT, "ncclCommInitRank: comm is null");
    if (strncmp(id.text, ID_PREFIX, sizeof ID_PREFIX - 1) || !memchr(id.text, 0, sizeof id.text)) {
        return fail(INVALID_ARGUMENT, "ncclCommInitRank: the unique id is not one of the simulator's");
    }
    return remember(create(out, ranks, id.text, rank, blocking));
}

// Undefined means blocking, or what the parent has.
int blockingOf(const Config* config, bool otherwise, bool* blocking) {
    if (config && config->magic != CONFIG_MAGIC) {
        return fail(INVALID_ARGUMENT, "ncclConfig_t argument not initialized via NCCL_CONFIG_INITIALIZER");
    }
    *blocking = !config || config->blocking == UNSET ? otherwise : config->blocking != 0;
    return SUCCESS;
}

// Meets the parent's ranks, then those of the same color.
int split(Communicator* parent, int color, int key, Communicator** out, bool blocking) {
    Segment* segment = parent->segment;
    parent->drain();
    segment->color[parent->rank] = color;
    segment->key[parent->rank] = key;
    if (int error = meet(parent, segment->control, "ncclCommSplit")) return error;
    int ranks = 0, rank = 0;
    for (int r = 0; r < parent->ranks; r++) {
        if (segment->color[r] != color) continue;
        ranks++;
        rank += segment->key[r] < key || (segment->key[r] == key && r < parent->rank);
    }
    std::string name = parent->name + "-" + std::to_string(parent->splits++) + "." + std::to_string(color);
    if (int error = meet(parent, segment->control, "ncclCommSplit")) return error;
    if (color < 0) return SUCCESS;
    auto* c = new Communicator(rank, ranks, parent->device, blocking, name);
    c->parent = parent;
    int result = attach(c);
    c->parent = nullptr;
    if (result) {
        delete c;
    } else {
        *out = c;
    }
    return result;
}

namespace {

// ---- The end of a group ----

int runInits(std::vector<Init>& inits) {
    int result = SUCCESS;
    std::vector<std::thread> threads;
    for (Init& each : inits) threads.emplace_back([&each] { each.result = attach(each.c); });
    for (std::thread& thread : threads) thread.join();
    for (Init& each : inits) {
        if (each.result) {
            result = each.result;
            delete each.c;
        } else {
            *each.out = each.c;
        }
    }
    return result;
}

// One thread may have calls of several ranks in a group, which connect to each other.
int connectAll(const std::vector<Call>& calls) {
    std::map<Communicator*, Op> first;
    for (const Call& call : calls) {
        if (call.op.kind < SEND && call.op.count > 0) first.emplace(call.c, call.op);
    }
    std::atomic<int> result{SUCCESS};
    std::vector<std::thread> threads;
    for (auto& each : first) {
        threads.emplace_back([&each, &result] {
            if (int error = connect(each.first, each.second)) result = error;
        });
    }
    for (std::thread& thread : threads) thread.join();
    return result;
}

// Collectives one by one; all messages of a communicator and stream together, so that they make progress together.
int runCalls(std::vector<Call>& calls) {
    if (int error = connectAll(calls)) return error;
    int result = SUCCESS;
    std::vector<bool> taken(calls.size(), false);
    for (size_t i = 0; i < calls.size(); i++) {
        if (taken[i]) continue;
        std::vector<Op> ops{calls[i].op};
        for (size_t j = i + 1; calls[i].op.kind >= SEND && j < calls.size(); j++) {
            const Op& other = calls[j].op;
            if (calls[j].c == calls[i].c && other.kind >= SEND && other.stream == ops[0].stream) {
                ops.push_back(other);
                taken[j] = true;
            }
        }
        int error = submit(calls[i].c, ops);
        if (error && (result == SUCCESS || result == IN_PROGRESS)) result = error;
    }
    return result;
}

}  // namespace

int awaitGraphs(Communicator* c, const char* call) {
    for (int waited = 0; c->persistent > 0; waited++) {
        if (waited == 2000) {
            return fail(INVALID_USAGE, "%s: graphs hold %d calls on the communicator, and NCCL would wait for ever; destroy "
                        "the graphs first", call, c->persistent.load());
        }
        usleep(1000);
    }
    return SUCCESS;
}

void end(Communicator* c) {
    c->drain();
    {
        std::lock_guard<std::mutex> lock(liveMutex);
        live.erase(c);
    }
    { std::lock_guard<std::mutex> last(c->running); }  // whoever is in it is out of it then
    delete c;
}

void groupStart() {
    if (group.depth++ == 0) {
        group.error = SUCCESS;
        group.calls.clear();
        group.inits.clear();
    }
}

int groupEnd() {
    if (group.depth == 0) return fail(INVALID_USAGE, "ncclGroupEnd: not in a group call");
    if (--group.depth) return SUCCESS;
    std::vector<Init> inits;
    std::vector<Call> calls;
    inits.swap(group.inits);
    calls.swap(group.calls);
    if (group.error) {
        for (Init& each : inits) delete each.c;
        return group.error;
    }
    if (int error = runInits(inits)) return error;
    return runCalls(calls);
}

}  // namespace simnccl
