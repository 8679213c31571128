// What every part of the simulated driver shares: settings, messages, handles, the entry check of API functions.
#pragma once
#include <atomic>
#include <cstdarg>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "cuda_driver.h"

#define API extern "C" __attribute__((visibility("default")))

// Leaves the API function with the first status that is not success.
#define REQUIRE(status)                                   \
    do {                                                  \
        CUresult status_ = (status);                      \
        if (status_ != CUDA_SUCCESS) return status_;      \
    } while (0)

namespace cusim {

struct Context;

// A number from the environment.
long setting(const char* name, long fallback);

// One line on stderr, behind "[cudasim] ".
void say(const char* format, ...) __attribute__((format(printf, 1, 2)));

// Says the line and passes the status through: `return refuse(CUDA_ERROR_INVALID_VALUE, "...")`.
CUresult refuse(CUresult status, const char* format, ...) __attribute__((format(printf, 2, 3)));

// One line of the file named by CUSIM_TRACE for an operation that was put on a stream:
// sequence, device, stream, "run" or "capture", kind, name; separated by tabs.
void trace(int device, unsigned stream, bool captured, const char* kind, const std::string& name);

const char* nameOf(CUresult status);

// Objects behind opaque handles. A handle is a number that is never used again, so a destroyed or a wrong one is found.
template <class T, class Handle>
class Handles {
public:
    explicit Handles(uintptr_t kind) : next_(kind << 40) {}

    Handle add(std::shared_ptr<T> object) {
        std::lock_guard<std::mutex> lock(mutex_);
        next_ += 16;
        objects_[next_] = std::move(object);
        return reinterpret_cast<Handle>(next_);
    }

    std::shared_ptr<T> find(Handle handle) {
        std::lock_guard<std::mutex> lock(mutex_);
        auto at = objects_.find(reinterpret_cast<uintptr_t>(handle));
        return at == objects_.end() ? nullptr : at->second;
    }

    std::shared_ptr<T> remove(Handle handle) {
        std::lock_guard<std::mutex> lock(mutex_);
        auto at = objects_.find(reinterpret_cast<uintptr_t>(handle));
        if (at == objects_.end()) return nullptr;
        std::shared_ptr<T> object = at->second;
        objects_.erase(at);
        return object;
    }

    std::vector<std::shared_ptr<T>> all() {
        std::lock_guard<std::mutex> lock(mutex_);
        std::vector<std::shared_ptr<T>> list;
        for (auto& entry : objects_) list.push_back(entry.second);
        return list;
    }

private:
    std::mutex mutex_;
    std::map<uintptr_t, std::shared_ptr<T>> objects_;
    uintptr_t next_;
};

}  // namespace cusim
