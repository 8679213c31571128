// Stacks that threads of a block run on, and the switch between them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace cusim {

struct Fiber {
    void* sp = nullptr;           // where it stopped; null when it must start anew
    unsigned thread = 0;          // of the block
    const unsigned* turn = nullptr;  // waits until this counter moves on
    unsigned seen = 0;
    bool live = false;
};

// Stacks for all threads of the largest block.
class FiberPool {
public:
    static constexpr size_t FIBERS = 1024;
    static constexpr size_t STACK_BYTES = 128 << 10;

    FiberPool();
    ~FiberPool();
    FiberPool(const FiberPool&) = delete;

    // A pool that nobody uses; it goes back when the pointer dies.
    static std::shared_ptr<FiberPool> borrow();

    // Gives the fiber a fresh stack that starts in `main`, unless it is waiting in there already.
    void prepare(Fiber& fiber, void (*main)());
    // Whether the fiber wrote beyond its stack.
    bool overflowed(const Fiber& fiber) const;
    // Forgets what all fibers were doing.
    void reset();

    std::vector<Fiber> fibers;

private:
    uint64_t* lowest(const Fiber& fiber) const;

    char* stacks_;
};

// Saves the running context in *saved and goes on with the other one.
extern "C" void cusim_switch(void** saved, void* resumed);

}  // namespace cusim
