// Streams, events and the work on them. Every stream is a thread with a queue, so work of two streams really overlaps
// and a forgotten wait shows.
#pragma once
#include <chrono>
#include <deque>
#include <functional>
#include <shared_mutex>
#include <thread>

#include "driver/context.h"

namespace cusim {

class Capture;

// One piece of work on a stream or in a graph.
struct Operation {
    const char* kind;  // "kernel", "copy", ...: the words of the trace
    std::string name;
    std::function<void()> work;
    bool always = false;  // runs after a fault as well: what others wait for
};
using OperationPtr = std::shared_ptr<const Operation>;

class Stream : public std::enable_shared_from_this<Stream> {
public:
    static std::shared_ptr<Stream> create(Context& context, unsigned number, bool blocking, int priority);

    // The stream behind a handle; for the null stream that of the current context. Null when there is no such stream.
    static std::shared_ptr<Stream> of(CUstream handle);
    static bool isNull(CUstream handle);

    void submit(OperationPtr operation);
    uint64_t position();
    void await(uint64_t position);
    void drain() { await(position()); }
    bool idle();
    // Ends the thread after what is queued.
    void retire();

    Context& context;
    const unsigned number;
    const bool blocking;  // waits for the null stream and the other way round
    const int priority;

    // What capture.cpp keeps here, guarded by its mutex.
    std::shared_ptr<Capture> capture;
    std::set<size_t> frontier;  // the nodes that the next one depends on

private:
    Stream(Context& context, unsigned number, bool blocking, int priority);
    void loop();
    void lag(std::unique_lock<std::mutex>& lock);

    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<OperationPtr> queue_;
    uint64_t submitted_ = 0;
    uint64_t finished_ = 0;
    int awaiting_ = 0;  // who waits for the stream's work: it lags no longer
    bool retired_ = false;
};

struct Event {
    Event(Context& made, unsigned flags) : context(made), timed(!(flags & CU_EVENT_DISABLE_TIMING)) {}

    Context& context;
    const bool timed;
    std::mutex mutex;
    std::condition_variable changed;
    uint64_t recorded = 0;
    uint64_t reached = 0;
    std::chrono::steady_clock::time_point time;

    // Set when the last record was in a capture, guarded by capture.cpp's mutex.
    std::shared_ptr<Capture> capture;
    std::set<size_t> frontier;
};

Handles<Stream, CUstream>& streams();
Handles<Event, CUevent>& events();

// Puts work on a stream: into its queue, or into the graph that is being captured from it.
CUresult enqueue(const std::shared_ptr<Stream>& stream, Operation operation);

// Shared by threads that enqueue work, whatever the device; taken alone by who synchronizes a device within the driver.
std::shared_mutex& enqueuing();

// Waits for all work of a context.
void drainDevice(Context& context);

// Runs work with faults caught: a bad address ends the context with CUDA_ERROR_ILLEGAL_ADDRESS instead of the process.
// Returns false when it faulted.
bool guarded(const std::function<void()>& work);
// Runs a host function: its faults are the program's own, in a JVM null pointer checks.
void unguarded(const std::function<void()>& work);
void installFaultHandler();

}  // namespace cusim
