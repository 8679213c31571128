// Devices and their primary contexts.
#pragma once
#include <array>
#include <condition_variable>
#include <set>

#include "driver/core.h"

namespace cusim {

class Stream;

// The primary context of one device. It lives as long as the process; `references` says whether the driver would have it.
struct Context {
    explicit Context(int physical) : device(physical) {}

    const int device;  // the ordinal before CUDA_VISIBLE_DEVICES
    std::atomic<int> references{0};
    std::atomic<CUresult> sticky{CUDA_SUCCESS};  // the error that ended the context, as on the device
    std::mutex mutex;                            // guards what follows
    std::set<std::shared_ptr<Stream>> streams;
    std::shared_ptr<Stream> legacy;  // the null stream, made at first use
    std::set<int> peers;             // devices whose memory this context may use
    unsigned nextStream = 1;         // stream numbers in traces; the null stream is 0

    CUcontext handle() { return reinterpret_cast<CUcontext>(this); }

    // Ends the context: the first error stays.
    void fault(CUresult status) {
        CUresult none = CUDA_SUCCESS;
        sticky.compare_exchange_strong(none, status);
    }

    std::vector<std::shared_ptr<Stream>> allStreams();
};

// All devices of the machine, by ordinal.
std::vector<std::unique_ptr<Context>>& machine();

// The visible ones; empty before cuInit.
std::vector<Context*>& devices();

Context* contextOf(CUcontext handle);

// The context of the calling thread.
Context*& current();

// What every function asks first: initialized, a context that is current and alive, no earlier fault, and the thread not
// inside of a host function.
CUresult ready();

// Marks the thread as running a host function, which may not call the driver.
struct InsideHostFunction {
    InsideHostFunction();
    ~InsideHostFunction();
};

// Bytes of memory a device has.
size_t deviceBytes();

}  // namespace cusim
