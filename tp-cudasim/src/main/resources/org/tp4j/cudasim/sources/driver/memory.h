// Memory of the simulated devices, and pinned host memory.
//
// Each device allocation lies between guard zones without access and ends as close to the upper one as its alignment of
// 256 bytes allows. New memory holds 0xFF bytes, which are NaN in every floating-point type. Freed memory loses access
// and its addresses rest for a while, so that a use after free shows.
#pragma once
#include "driver/context.h"

namespace cusim {

struct Allocation {
    enum Kind { DEVICE, PINNED, REGISTERED };
    uintptr_t base;
    size_t bytes;
    int device;
    Kind kind;
};

class Memory {
public:
    static Memory& instance();

    // Reserves addresses and counts the bytes; the memory can be used after `open`. False when the device is full.
    bool reserve(Context& context, size_t bytes, Allocation* made);
    // Gives access and fills with NaN.
    void open(const Allocation& allocation);

    // Takes a device allocation out of the books; its addresses stay until `close`. False when it is none.
    bool forget(uintptr_t base, Allocation* found);
    // Takes the access away.
    void close(const Allocation& allocation);

    void* allocatePinned(Context& context, size_t bytes);
    bool freePinned(uintptr_t base);
    bool registerHost(Context& context, uintptr_t base, size_t bytes);
    bool unregisterHost(uintptr_t base);

    // The allocation that holds this address.
    bool find(uintptr_t address, Allocation* found);
    bool isFreed(uintptr_t address);
    size_t used(int device);

    std::vector<Allocation> all();

private:
    std::mutex mutex_;
    std::map<uintptr_t, Allocation> live_;
    std::map<int, size_t> used_;
    struct Range {
        uintptr_t start;
        size_t bytes;
    };
    std::vector<Range> resting_;
};

// Holds [address, address + bytes) against the books: inside one device allocation of `device`.
CUresult checkDeviceRange(uintptr_t address, size_t bytes, int device, const char* who);

}  // namespace cusim
