// Simulated NCCL: what its parts share. See api.cpp for what it does and what it does not.
#pragma once
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "cuda_driver.h"

namespace simnccl {

enum Result { SUCCESS, CUDA_ERROR, SYSTEM_ERROR, INTERNAL_ERROR, INVALID_ARGUMENT, INVALID_USAGE, REMOTE_ERROR, IN_PROGRESS };
enum Type { INT8, UINT8, INT32, UINT32, INT64, UINT64, FLOAT16, FLOAT32, FLOAT64, BFLOAT16, TYPES };
enum RedOp { SUM, PROD, MAX, MIN, AVG, OPS };
enum Kind { ALL_REDUCE, ALL_GATHER, REDUCE_SCATTER, BROADCAST, REDUCE, ALL_TO_ALL, SEND, RECV };

constexpr int MAX_RANKS = 64;
constexpr size_t SLOT_BYTES = 512 << 10;  // of a collective's data, a rank, at a time
constexpr size_t MAIL_BYTES = 64 << 10;   // of a message, between two ranks, at a time

size_t typeBytes(int type);
const char* kindName(int kind);

// One call on one communicator.
struct Op {
    Kind kind;
    const void* send;
    void* recv;
    size_t count;
    int type;
    int op;
    int peer;  // or root
    CUstream stream;
};

struct UniqueId {
    char text[128];
};

struct Config {  // as in 2.18; later fields are not looked at
    size_t size;
    unsigned magic, version;
    int blocking, cgaClusterSize, minCTAs, maxCTAs;
    const char* netName;
    int splitShare;
};

// ---- What the ranks of a communicator share: one POSIX shared memory segment ----

struct Barrier {
    std::atomic<uint32_t> count;
    std::atomic<uint32_t> generation;
};

struct Description {  // of a collective: what ranks must agree on
    int kind, type, op, root;
    size_t count;
};

struct Mail {  // from one rank to another, a piece at a time
    std::atomic<uint32_t> full;
    uint32_t bytes;
    size_t total;  // of the whole message
    char data[MAIL_BYTES];
};

struct Segment {
    std::atomic<int> error;    // reported by a rank, where mismatches are reported
    std::atomic<int> aborted;  // a rank has left: nothing completes any more
    Barrier data;              // of collectives
    Barrier control;           // of init and split
    Barrier connect;           // of the first collective
    std::atomic<int> pid[MAX_RANKS];
    int ranks[MAX_RANKS];
    int device[MAX_RANKS];
    Description calls[MAX_RANKS];
    int color[MAX_RANKS];
    int key[MAX_RANKS];
};

struct Communicator {
    int rank, ranks, device;
    bool blocking;
    CUcontext context = nullptr;  // the device's primary one
    std::string name;  // of the segment
    Segment* segment = nullptr;
    size_t bytes = 0;
    std::atomic<int> state{SUCCESS};
    std::atomic<bool> aborting{false};
    Communicator* parent = nullptr;  // while it is being split off: an abort of that one ends it too
    int splits = 0;
    std::thread background;  // init or split of a non-blocking communicator

    // Work runs in the order in which it was issued, whatever the streams.
    std::mutex mutex;
    std::condition_variable changed;
    uint64_t issued = 0, completed = 0;
    std::mutex running;  // one at a time, replayed graphs included

    std::atomic<int> inside{0};      // threads that block in a call on it
    std::atomic<int> persistent{0};  // captured calls that graphs hold
    std::atomic<bool> connected{false};

    // Calls of a non-blocking communicator that have not reached their streams; polls left until they do.
    std::vector<std::vector<Op>> deferred;
    int polls = 0;

    Communicator(int rank, int ranks, int device, bool blocking, std::string name);
    ~Communicator();

    Mail* mail(int from, int to) {
        return reinterpret_cast<Mail*>(reinterpret_cast<char*>(segment) + sizeof(Segment)) + size_t(from) * ranks + to;
    }
    char* slot(int of) {
        return reinterpret_cast<char*>(segment) + sizeof(Segment) + sizeof(Mail) * ranks * ranks + SLOT_BYTES * of;
    }
    void drain();  // waits until all work issued is complete
};

// A thread that may block in a call: an abort ends its waiting, and waits until it is out.
struct Inside {
    Communicator* c;
    explicit Inside(Communicator* c) : c(c) { c->inside++; }
    ~Inside() { c->inside--; }
};

// ---- shared.cpp: the segment, meeting and waiting ----

// Whether mistakes that make NCCL hang are reported instead: CUSIM_NCCL_REPORT=1.
bool reports();

// Prints, keeps for ncclGetLastError, and returns a failure.
int fail(int result, const char* format, ...) __attribute__((format(printf, 2, 3)));
std::string lastError();

// Maps the segment, meets the other ranks, and checks that no two share a device.
int attach(Communicator* c);
void detach(Communicator* c);

// Waits for all ranks. SUCCESS, or why this rank waits no longer.
int meet(Communicator* c, Barrier& barrier, const char* what);

// Called again and again by whoever waits. SUCCESS: go on waiting.
int waiting(Communicator* c, const char* what);

// Waits until this rank aborts, as NCCL does where ranks do not fit together; or reports, if asked to.
int hang(Communicator* c, int result, const char* what);

// Removes segments that processes have left behind which died before all ranks had joined.
void sweep();

// ---- work.cpp: moving and joining values ----

// Carries out a collective, or the messages of a group, on the calling (stream's) thread.
int collective(Communicator* c, const Op& op);
int messages(Communicator* c, const std::vector<Op>& ops);

// ---- calls.cpp: checking calls, groups, putting work on streams ----

// SUCCESS if a call may be made on the communicator now.
int ready(Communicator* c, const char* call);

// Checks a call and starts it, or adds it to the thread's group.
int start(Communicator* c, const Op& op);

// Reads the one setting that matters here: undefined means `otherwise`.
int blockingOf(const Config* config, bool otherwise, bool* blocking);

int init(Communicator** out, int ranks, const UniqueId& id, int rank, bool blocking);
int split(Communicator* parent, int color, int key, Communicator** out, bool blocking);

// The state of a communicator; calls of non-blocking ones get to their streams from here.
int poll(Communicator* c);

// Waits for the graphs that hold calls on it, as NCCL does for ever; refuses after two seconds.
int awaitGraphs(Communicator* c, const char* call);

// Runs a job of a non-blocking communicator, which is in progress until then.
void inBackground(Communicator* c, std::function<int()> job);

void groupStart();
int groupEnd();

// Waits for what has been issued and frees it.
void end(Communicator* c);

extern const char ID_PREFIX[];

}  // namespace simnccl
