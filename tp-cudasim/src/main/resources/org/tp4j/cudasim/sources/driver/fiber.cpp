#include "driver/fiber.h"

#include <mutex>
#include <new>
#include <sys/mman.h>

namespace cusim {

// The registers that a function call preserves go on the stack; ucontext would cost two system calls a switch.
__asm__(".text\n"
        ".globl cusim_switch\n"
        ".hidden cusim_switch\n"
        ".type cusim_switch,@function\n"
        "cusim_switch:\n"
        "    push %rbp\n"
        "    push %rbx\n"
        "    push %r12\n"
        "    push %r13\n"
        "    push %r14\n"
        "    push %r15\n"
        "    mov %rsp,(%rdi)\n"
        "    mov %rsi,%rsp\n"
        "    pop %r15\n"
        "    pop %r14\n"
        "    pop %r13\n"
        "    pop %r12\n"
        "    pop %rbx\n"
        "    pop %rbp\n"
        "    ret\n"
        ".size cusim_switch,.-cusim_switch\n");

namespace {

constexpr uint64_t CANARY = 0x5AFE57AC5AFE57AC;

}  // namespace

FiberPool::FiberPool() : fibers(FIBERS) {
    void* mapped = mmap(nullptr, FIBERS * STACK_BYTES, PROT_READ | PROT_WRITE,
            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED) throw std::bad_alloc();
    stacks_ = static_cast<char*>(mapped);
}

FiberPool::~FiberPool() {
    munmap(stacks_, FIBERS * STACK_BYTES);
}

std::shared_ptr<FiberPool> FiberPool::borrow() {
    static std::mutex mutex;
    static auto* idle = new std::vector<FiberPool*>;
    std::lock_guard<std::mutex> lock(mutex);
    FiberPool* pool = idle->empty() ? new FiberPool : idle->back();
    if (!idle->empty()) idle->pop_back();
    return std::shared_ptr<FiberPool>(pool, [](FiberPool* back) {
        std::lock_guard<std::mutex> lock(mutex);
        idle->push_back(back);
    });
}

uint64_t* FiberPool::lowest(const Fiber& fiber) const {
    return reinterpret_cast<uint64_t*>(stacks_ + (&fiber - fibers.data()) * STACK_BYTES);
}

void FiberPool::prepare(Fiber& fiber, void (*main)()) {
    if (!fiber.sp) {
        size_t place = &fiber - fibers.data();
        // Stacks at equal distances would share the sets of the cache.
        size_t stagger = place * 37 % 512 * 64;
        void** top = reinterpret_cast<void**>(stacks_ + (place + 1) * STACK_BYTES - 64 - stagger);
        *--top = nullptr;  // the caller of main, for its alignment
        *--top = reinterpret_cast<void*>(main);
        for (int saved = 0; saved < 6; saved++) *--top = nullptr;
        fiber.sp = top;
        *lowest(fiber) = CANARY;
    }
    fiber.live = true;
}

bool FiberPool::overflowed(const Fiber& fiber) const {
    return *lowest(fiber) != CANARY;
}

void FiberPool::reset() {
    for (Fiber& fiber : fibers) fiber = Fiber();
}

}  // namespace cusim
