#include "driver/memory.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>

namespace cusim {

namespace {

constexpr size_t GUARD = 4 << 20;
constexpr size_t PAGE = 4096;
constexpr size_t ALIGNMENT = 256;
// Filling more would commit memory that nobody uses.
constexpr size_t POISONED = 64 << 20;
constexpr size_t RESTING_RANGES = 512;

size_t wholePages(size_t bytes) {
    return (bytes + PAGE - 1) / PAGE * PAGE;
}

// From the start of the first page to the allocation.
size_t offsetIn(size_t bytes) {
    return (wholePages(bytes) - bytes) & ~(ALIGNMENT - 1);
}

}  // namespace

Memory& Memory::instance() {
    static Memory* memory = new Memory;  // never destroyed: streams may still run at exit
    return *memory;
}

bool Memory::reserve(Context& context, size_t bytes, Allocation* made) {
    std::lock_guard<std::mutex> lock(mutex_);
    size_t& used = used_[context.device];
    if (bytes > deviceBytes() - used) return false;
    size_t pages = wholePages(bytes);
    void* mapped =
            mmap(nullptr, pages + 2 * GUARD, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED) {
        say("mmap of %zu bytes: %s (vm.max_map_count may be too small)", bytes, strerror(errno));
        return false;
    }
    uintptr_t base = reinterpret_cast<uintptr_t>(mapped) + GUARD + offsetIn(bytes);
    used += bytes;
    *made = live_[base] = {base, bytes, context.device, Allocation::DEVICE};
    return true;
}

void Memory::open(const Allocation& allocation) {
    void* pages = reinterpret_cast<void*>(allocation.base - offsetIn(allocation.bytes));
    mprotect(pages, wholePages(allocation.bytes), PROT_READ | PROT_WRITE);
    memset(reinterpret_cast<void*>(allocation.base), 0xFF, std::min(allocation.bytes, POISONED));
}

bool Memory::forget(uintptr_t base, Allocation* found) {
    std::lock_guard<std::mutex> lock(mutex_);
    auto at = live_.find(base);
    if (at == live_.end() || at->second.kind != Allocation::DEVICE) return false;
    *found = at->second;
    live_.erase(at);
    used_[found->device] -= found->bytes;
    return true;
}

void Memory::close(const Allocation& allocation) {
    uintptr_t start = allocation.base - offsetIn(allocation.bytes);
    size_t pages = wholePages(allocation.bytes);
    mprotect(reinterpret_cast<void*>(start), pages, PROT_NONE);
    madvise(reinterpret_cast<void*>(start), pages, MADV_DONTNEED);
    std::lock_guard<std::mutex> lock(mutex_);
    resting_.push_back({start - GUARD, pages + 2 * GUARD});
    if (resting_.size() > RESTING_RANGES) {
        munmap(reinterpret_cast<void*>(resting_.front().start), resting_.front().bytes);
        resting_.erase(resting_.begin());
    }
}

void* Memory::allocatePinned(Context& context, size_t bytes) {
    void* memory = nullptr;
    if (posix_memalign(&memory, PAGE, bytes)) return nullptr;
    memset(memory, 0xFF, std::min(bytes, POISONED));
    std::lock_guard<std::mutex> lock(mutex_);
    uintptr_t base = reinterpret_cast<uintptr_t>(memory);
    live_[base] = {base, bytes, context.device, Allocation::PINNED};
    return memory;
}

bool Memory::freePinned(uintptr_t base) {
    {
        std::lock_guard<std::mutex> lock(mutex_);
        auto at = live_.find(base);
        if (at == live_.end() || at->second.kind != Allocation::PINNED) return false;
        live_.erase(at);
    }
    free(reinterpret_cast<void*>(base));
    return true;
}

bool Memory::registerHost(Context& context, uintptr_t base, size_t bytes) {
    Allocation overlapped;
    if (find(base, &overlapped) || find(base + bytes - 1, &overlapped)) return false;
    std::lock_guard<std::mutex> lock(mutex_);
    live_[base] = {base, bytes, context.device, Allocation::REGISTERED};
    return true;
}

bool Memory::unregisterHost(uintptr_t base) {
    std::lock_guard<std::mutex> lock(mutex_);
    auto at = live_.find(base);
    if (at == live_.end() || at->second.kind != Allocation::REGISTERED) return false;
    live_.erase(at);
    return true;
}

bool Memory::find(uintptr_t address, Allocation* found) {
    std::lock_guard<std::mutex> lock(mutex_);
    auto at = live_.upper_bound(address);
    if (at == live_.begin()) return false;
    --at;
    if (address >= at->first + at->second.bytes) return false;
    *found = at->second;
    return true;
}

bool Memory::isFreed(uintptr_t address) {
    std::lock_guard<std::mutex> lock(mutex_);
    return std::any_of(resting_.begin(), resting_.end(), [&](const Range& range) {
        return address >= range.start + GUARD && address < range.start + range.bytes - GUARD;
    });
}

size_t Memory::used(int device) {
    std::lock_guard<std::mutex> lock(mutex_);
    return used_[device];
}

std::vector<Allocation> Memory::all() {
    std::lock_guard<std::mutex> lock(mutex_);
    std::vector<Allocation> list;
    for (auto& entry : live_) list.push_back(entry.second);
    return list;
}

CUresult checkDeviceRange(uintptr_t address, size_t bytes, int device, const char* who) {
    if (!bytes) return CUDA_SUCCESS;
    Allocation allocation;
    if (!Memory::instance().find(address, &allocation)) {
        bool freed = Memory::instance().isFreed(address);
        return refuse(CUDA_ERROR_INVALID_VALUE, "%s: %p is %s", who, reinterpret_cast<void*>(address),
                freed ? "in device memory that was freed" : "no device address");
    }
    if (allocation.kind != Allocation::DEVICE) {
        return refuse(CUDA_ERROR_INVALID_VALUE, "%s: %p is pinned host memory, not device memory", who,
                reinterpret_cast<void*>(address));
    }
    if (allocation.device != device) {
        return refuse(CUDA_ERROR_INVALID_VALUE, "%s: %p is memory of device %d, but device %d is current", who,
                reinterpret_cast<void*>(address), allocation.device, device);
    }
    if (bytes > allocation.base + allocation.bytes - address) {
        return refuse(CUDA_ERROR_INVALID_VALUE, "%s: %zu bytes at %p, offset %zu, run past the allocation of %zu bytes",
                who, bytes, reinterpret_cast<void*>(address), static_cast<size_t>(address - allocation.base),
                allocation.bytes);
    }
    return CUDA_SUCCESS;
}

}  // namespace cusim
