#include "driver/block.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "driver/fiber.h"
#include "driver/order.h"
#include "driver/stream.h"

namespace cusim {

namespace {

constexpr unsigned WARP = 32;
constexpr size_t FENCE_BYTES = 256;  // kept behind the dynamic shared memory that was asked for
constexpr unsigned char POISON = 0xFF;
constexpr unsigned char FENCE = 0xFD;

struct Barrier {
    unsigned turn = 0;
    int arrived = 0;
    int line = 0;
    int sum = 0;     // of predicates
    int voters = 0;  // of the last vote
    int votes = 0;
};

// Lanes of a warp that meet under one mask.
struct Meeting {
    unsigned turn = 0;
    unsigned mask = 0;
    unsigned arrived = 0;
    unsigned ballot = 0;
    uint64_t value[WARP];
    int source[WARP];  // -1: a ballot
};

struct Warp {
    static constexpr int MEETINGS = 4;
    unsigned alive = 0;
    Meeting meetings[MEETINGS];
    uint64_t result[WARP];
};

class BlockRunner {
public:
    BlockRunner(const KernelImage& image, const CusimKernel& kernel, const std::string& name, void** arguments,
            const LaunchSize& size);
    CUresult runGrid();

    void barrier(int line, int predicate);
    int vote(int line, int predicate, int kind);
    uint64_t meet(unsigned mask, uint64_t value, int source);
    void trap(const char* why);
    [[noreturn]] void fiberMain();

private:
    CUresult runBlock(const CusimIndex& block, uint64_t number);
    void orderThreads(uint64_t number);
    void setThread(unsigned thread);
    void release(Barrier& barrier);
    void complete(Warp& warp, Meeting& meeting);
    void retire(unsigned thread);
    void waitFor(const unsigned& turn, unsigned seen);
    void resume(Fiber& fiber);
    bool sweep();
    CUresult fail(const char* what);

    const CusimImage& image_;
    const KernelImage& shared_;
    const CusimKernel& kernel_;
    const std::string& name_;
    void** const arguments_;
    const LaunchSize size_;
    const unsigned threads_;
    std::shared_ptr<FiberPool> pool_ = FiberPool::borrow();
    std::vector<Fiber*> idle_, waiting_;
    std::vector<unsigned> order_;
    std::vector<Warp> warps_;
    Barrier barrier_;
    unsigned started_ = 0;
    int alive_ = 0;
    bool failed_ = false;
    Fiber* running_ = nullptr;
    void* scheduler_ = nullptr;
};

thread_local BlockRunner* runner = nullptr;

BlockRunner::BlockRunner(const KernelImage& image, const CusimKernel& kernel, const std::string& name, void** arguments,
        const LaunchSize& size)
    : image_(*image.exported), shared_(image), kernel_(kernel), name_(name), arguments_(arguments), size_(size),
      threads_(size.block.x * size.block.y * size.block.z), order_(threads_), warps_((threads_ + WARP - 1) / WARP) {
    pool_->reset();
    for (size_t i = FiberPool::FIBERS; i-- > 0;) idle_.push_back(&pool_->fibers[i]);
    orderThreads(0);
}

CUresult BlockRunner::fail(const char* what) {
    const CusimIndex& block = *image_.blockIdx;
    say("kernel %s, block (%u,%u,%u): %s", name_.c_str(), block.x, block.y, block.z, what);
    failed_ = true;
    return CUDA_ERROR_LAUNCH_FAILED;
}

CUresult BlockRunner::runGrid() {
    *image_.blockDim = size_.block;
    *image_.gridDim = size_.grid;
    const uint64_t blocks = static_cast<uint64_t>(size_.grid.x) * size_.grid.y * size_.grid.z;
    Random random{seed()};
    uint64_t step = 1, offset = 0;
    if (order() == Order::SHUFFLE) {
        // i -> (step * i + offset) mod blocks visits every block once when step and blocks have no common factor.
        offset = random.next() % blocks;
        do step = random.next() % blocks + 1;
        while (std::gcd(step, blocks) != 1);
    }
    for (uint64_t i = 0; i < blocks; i++) {
        uint64_t number = order() == Order::REVERSE ? blocks - 1 - i
                : static_cast<uint64_t>((static_cast<unsigned __int128>(step) * i + offset) % blocks);
        CusimIndex block{static_cast<unsigned>(number % size_.grid.x),
                static_cast<unsigned>(number / size_.grid.x % size_.grid.y),
                static_cast<unsigned>(number / size_.grid.x / size_.grid.y)};
        CUresult status = runBlock(block, number);
        if (status != CUDA_SUCCESS) return status;
    }
    return CUDA_SUCCESS;
}

// Warps in their order, and within each its lanes.
void BlockRunner::orderThreads(uint64_t number) {
    std::iota(order_.begin(), order_.end(), 0u);
    if (order() == Order::REVERSE) std::reverse(order_.begin(), order_.end());
    if (order() != Order::SHUFFLE) return;
    Random random{seed() * 0x2545F4914F6CDD1D + number};
    std::vector<unsigned> warps(warps_.size());
    std::iota(warps.begin(), warps.end(), 0u);
    random.shuffle(warps.begin(), warps.end());
    unsigned next = 0;
    for (unsigned warp : warps) {
        unsigned first = next;
        for (unsigned lane = 0; lane < WARP && warp * WARP + lane < threads_; lane++) order_[next++] = warp * WARP + lane;
        random.shuffle(order_.begin() + first, order_.begin() + next);
    }
}

CUresult BlockRunner::runBlock(const CusimIndex& block, uint64_t number) {
    *image_.blockIdx = block;
    memset(image_.sharedAnchor() - shared_.sharedOffset, POISON, shared_.sharedBytes);
    memset(image_.dynamicShared, POISON, size_.sharedBytes);
    memset(image_.dynamicShared + size_.sharedBytes, FENCE, FENCE_BYTES);
    if (order() == Order::SHUFFLE) orderThreads(number);
    barrier_ = Barrier();
    started_ = 0;
    alive_ = threads_;
    for (size_t w = 0; w < warps_.size(); w++) {
        unsigned lanes = std::min<unsigned>(WARP, threads_ - w * WARP);
        warps_[w].alive = lanes == WARP ? ~0u : (1u << lanes) - 1;
        for (Meeting& meeting : warps_[w].meetings) meeting.arrived = meeting.ballot = 0;
    }

    // Threads start one after another on the same fiber until one has to wait; then the next fiber takes over.
    while (started_ < threads_ && !failed_) {
        Fiber& fiber = *idle_.back();
        pool_->prepare(fiber, [] { runner->fiberMain(); });
        resume(fiber);
        if (fiber.live) {
            waiting_.push_back(&fiber);
            idle_.pop_back();
        }
    }
    while (!waiting_.empty() && !failed_) {
        if (!sweep() && !failed_) {
            std::string what = std::to_string(waiting_.size()) + " threads wait for ever: " +
                    (barrier_.arrived ? "not all came to __syncthreads at line " + std::to_string(barrier_.line)
                                      : std::string("a mask names lanes that did not come"));
            fail(what.c_str());
        }
    }
    if (failed_) return CUDA_ERROR_LAUNCH_FAILED;
    for (size_t i = 0; i < FENCE_BYTES; i++) {
        if (image_.dynamicShared[size_.sharedBytes + i] != FENCE) {
            return fail(("wrote past its " + std::to_string(size_.sharedBytes) + " bytes of dynamic shared memory").c_str());
        }
    }
    return CUDA_SUCCESS;
}

// Gives every thread that can go on its turn, warp by warp and each warp as far as it gets: 32 stacks stay in the cache.
bool BlockRunner::sweep() {
    bool moved = false;
    for (size_t begin = 0, end; begin < waiting_.size() && !failed_; begin = end) {
        unsigned warp = waiting_[begin]->thread / WARP;
        for (end = begin; end < waiting_.size() && waiting_[end]->thread / WARP == warp;) end++;
        for (bool again = true; again && !failed_;) {
            again = false;
            for (size_t i = begin; i < end && !failed_; i++) {
                Fiber& fiber = *waiting_[i];
                if (!fiber.live || *fiber.turn == fiber.seen) continue;
                again = moved = true;
                resume(fiber);
            }
        }
    }
    size_t kept = 0;
    for (Fiber* fiber : waiting_) {
        if (fiber->live) {
            waiting_[kept++] = fiber;
        } else {
            idle_.push_back(fiber);
        }
    }
    waiting_.resize(kept);
    return moved;
}

void BlockRunner::resume(Fiber& fiber) {
    running_ = &fiber;
    cusim_switch(&scheduler_, fiber.sp);
    if (!fiber.live && pool_->overflowed(fiber)) fail("a thread used more than its stack of 128 KiB");
}

void BlockRunner::fiberMain() {
    for (;;) {
        Fiber& fiber = *running_;
        while (started_ < threads_) {
            fiber.thread = order_[started_++];
            setThread(fiber.thread);
            kernel_.run(arguments_);
            retire(fiber.thread);
        }
        fiber.live = false;
        cusim_switch(&fiber.sp, scheduler_);
    }
}

void BlockRunner::setThread(unsigned thread) {
    CusimIndex& index = *image_.threadIdx;
    if (size_.block.y == 1 && size_.block.z == 1) {
        index = {thread, 0, 0};
    } else {
        index = {thread % size_.block.x, thread / size_.block.x % size_.block.y,
                thread / size_.block.x / size_.block.y};
    }
}

void BlockRunner::waitFor(const unsigned& turn, unsigned seen) {
    if (turn != seen) return;
    Fiber& fiber = *running_;
    fiber.turn = &turn;
    fiber.seen = seen;
    cusim_switch(&fiber.sp, scheduler_);
    setThread(fiber.thread);
}

void BlockRunner::release(Barrier& barrier) {
    barrier.voters = barrier.arrived;
    barrier.votes = barrier.sum;
    barrier.arrived = 0;
    barrier.sum = 0;
    ++barrier.turn;
}

void BlockRunner::barrier(int line, int predicate) {
    if (barrier_.arrived && barrier_.line != line) {
        fail(("threads meet at two barriers, lines " + std::to_string(barrier_.line) + " and " + std::to_string(line)).c_str());
    }
    unsigned turn = barrier_.turn;
    barrier_.line = line;
    barrier_.sum += predicate != 0;
    if (++barrier_.arrived >= alive_) release(barrier_);
    waitFor(barrier_.turn, turn);
}

int BlockRunner::vote(int line, int predicate, int kind) {
    barrier(line, predicate);
    int votes = barrier_.votes;
    return kind == CUSIM_COUNT ? votes : kind == CUSIM_AND ? votes == barrier_.voters : votes > 0;
}

void BlockRunner::complete(Warp& warp, Meeting& meeting) {
    for (unsigned left = meeting.arrived; left; left &= left - 1) {
        int lane = __builtin_ctz(left), source = meeting.source[lane];
        warp.result[lane] = source < 0 ? meeting.ballot
                : meeting.arrived >> source & 1 ? meeting.value[source] : ~uint64_t{0};
    }
    meeting.ballot = 0;
    meeting.arrived = 0;
    ++meeting.turn;
}

uint64_t BlockRunner::meet(unsigned mask, uint64_t value, int source) {
    unsigned thread = running_->thread, lane = thread % WARP;
    Warp& warp = warps_[thread / WARP];
    if (!(mask >> lane & 1)) {
        fail("a lane calls a warp operation whose mask does not name it");
        waitFor(barrier_.turn, barrier_.turn);
    }
    Meeting* meeting = nullptr;
    for (Meeting& other : warp.meetings) {
        if (other.arrived && other.mask == mask) {
            meeting = &other;
            break;
        }
        if (!other.arrived && !meeting) meeting = &other;
    }
    if (!meeting) {
        fail("a warp uses more than four masks at once");
        waitFor(barrier_.turn, barrier_.turn);
        return 0;
    }
    unsigned turn = meeting->turn;
    meeting->mask = mask;
    meeting->arrived |= 1u << lane;
    if (source < 0 && value) meeting->ballot |= 1u << lane;
    meeting->value[lane] = value;
    meeting->source[lane] = source;
    if (meeting->arrived == (mask & warp.alive)) complete(warp, *meeting);
    waitFor(meeting->turn, turn);
    return warp.result[lane];
}

// A thread that returned no longer counts where others wait.
void BlockRunner::retire(unsigned thread) {
    Warp& warp = warps_[thread / WARP];
    --alive_;
    warp.alive &= ~(1u << thread % WARP);
    if (barrier_.arrived && barrier_.arrived >= alive_) release(barrier_);
    for (Meeting& meeting : warp.meetings) {
        if (meeting.arrived && meeting.arrived == (meeting.mask & warp.alive)) complete(warp, meeting);
    }
}

void BlockRunner::trap(const char* why) {
    fail(why);
    waitFor(barrier_.turn, barrier_.turn);  // never comes back
}

const CusimRuntime runtime = {
        [](int line) { runner->barrier(line, 0); },
        [](int line, int predicate, int kind) { return runner->vote(line, predicate, kind); },
        [](unsigned mask, uint64_t value, int source) { return runner->meet(mask, value, source); },
        [](unsigned mask, int predicate) {
            return static_cast<unsigned>(runner->meet(mask, predicate ? 1 : 0, -1));
        },
        [](const char* why) { runner->trap(why); },
};

}  // namespace

CUresult runKernel(const KernelImage& image, const CusimKernel& kernel, const std::string& name, void** arguments,
        const LaunchSize& size) {
    BlockRunner block(image, kernel, name, arguments, size);
    *image.exported->runtime = &runtime;
    runner = &block;
    CUresult status = CUDA_SUCCESS;
    if (!guarded([&] { status = block.runGrid(); })) {
        const CusimIndex& at = *image.exported->blockIdx;
        const CusimIndex& thread = *image.exported->threadIdx;
        say("kernel %s, block (%u,%u,%u), thread (%u,%u,%u): touched an address that is not memory of the device",
                name.c_str(), at.x, at.y, at.z, thread.x, thread.y, thread.z);
        status = CUDA_ERROR_ILLEGAL_ADDRESS;
    }
    runner = nullptr;
    return status;
}

}  // namespace cusim
