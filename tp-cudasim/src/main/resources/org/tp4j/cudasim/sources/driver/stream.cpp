#include "driver/stream.h"

#include <unistd.h>

#include "driver/capture.h"

namespace cusim {

Handles<Stream, CUstream>& streams() {
    static auto* handles = new Handles<Stream, CUstream>(0x51);
    return *handles;
}

Handles<Event, CUevent>& events() {
    static auto* handles = new Handles<Event, CUevent>(0x52);
    return *handles;
}

namespace {

// With CUSIM_JITTER_US every operation starts up to that much later, which spreads the orders in which streams meet.
void jitter() {
    static const long limit = setting("CUSIM_JITTER_US", 0);
    if (limit <= 0) return;
    static std::atomic<uint64_t> state{static_cast<uint64_t>(setting("CUSIM_SEED", 1))};
    uint64_t x = state.fetch_add(0x9E3779B97F4A7C15) * 0xBF58476D1CE4E5B9;
    usleep((x ^ (x >> 31)) % limit);
}

// With CUSIM_LAG_US the device is behind the host: an operation that nobody waits for starts up to that much later, by a
// number that the seed, the stream and the operation's position decide. A quarter of them start at once, half soon.
std::chrono::microseconds lagOf(unsigned stream, int device, uint64_t position) {
    static const long limit = setting("CUSIM_LAG_US", 0);
    static const uint64_t seed = static_cast<uint64_t>(setting("CUSIM_SEED", 1));
    if (limit <= 0) return std::chrono::microseconds(0);
    uint64_t x = seed * 0x9E3779B97F4A7C15 + stream * 0xD1B54A32D192ED03 + device * 0x8CB92BA72F3D8DD7 + position;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
    x ^= x >> 31;
    long most = x % 4 == 0 ? 0 : x % 4 == 1 ? limit : limit / 10;
    return std::chrono::microseconds(most == 0 ? 0 : (x >> 8) % most);
}

void run(Context& context, const Operation& operation) {
    if (context.sticky.load() != CUDA_SUCCESS && !operation.always) return;
    jitter();
    if (!guarded(operation.work)) {
        say("device %d: %s %s touched an address that is not its memory; the context is lost", context.device,
                operation.kind, operation.name.c_str());
        context.fault(CUDA_ERROR_ILLEGAL_ADDRESS);
    }
}

}  // namespace

Stream::Stream(Context& owner, unsigned itsNumber, bool isBlocking, int itsPriority)
    : context(owner), number(itsNumber), blocking(isBlocking), priority(itsPriority) {}

std::shared_ptr<Stream> Stream::create(Context& context, unsigned number, bool blocking, int priority) {
    std::shared_ptr<Stream> stream(new Stream(context, number, blocking, priority));
    // The thread holds the stream, so that destroying one with work in it only forgets the handle.
    std::thread([stream] { stream->loop(); }).detach();
    return stream;
}

bool Stream::isNull(CUstream handle) {
    return handle == nullptr || handle == CU_STREAM_LEGACY || handle == CU_STREAM_PER_THREAD;
}

std::shared_ptr<Stream> Stream::of(CUstream handle) {
    if (!isNull(handle)) return streams().find(handle);
    Context* context = current();
    if (!context) return nullptr;
    std::lock_guard<std::mutex> lock(context->mutex);
    if (!context->legacy) context->legacy = create(*context, 0, false, 0);
    return context->legacy;
}

void Stream::loop() {
    current() = &context;
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
        changed_.wait(lock, [&] { return retired_ || !queue_.empty(); });
        if (queue_.empty()) return;
        lag(lock);
        OperationPtr operation = std::move(queue_.front());
        queue_.pop_front();
        lock.unlock();
        run(context, *operation);
        operation.reset();
        lock.lock();
        ++finished_;
        changed_.notify_all();
    }
}

void Stream::lag(std::unique_lock<std::mutex>& lock) {
    auto most = lagOf(number, context.device, finished_);
    if (most.count() > 0) changed_.wait_for(lock, most, [&] { return retired_ || awaiting_ > 0; });
}

void Stream::submit(OperationPtr operation) {
    {
        std::lock_guard<std::mutex> lock(mutex_);
        queue_.push_back(std::move(operation));
        ++submitted_;
    }
    changed_.notify_all();
}

uint64_t Stream::position() {
    std::lock_guard<std::mutex> lock(mutex_);
    return submitted_;
}

void Stream::await(uint64_t position) {
    std::unique_lock<std::mutex> lock(mutex_);
    awaiting_++;
    changed_.notify_all();
    changed_.wait(lock, [&] { return finished_ >= position; });
    awaiting_--;
}

bool Stream::idle() {
    std::lock_guard<std::mutex> lock(mutex_);
    return finished_ == submitted_;
}

void Stream::retire() {
    {
        std::lock_guard<std::mutex> lock(mutex_);
        retired_ = true;
    }
    changed_.notify_all();
}

std::vector<std::shared_ptr<Stream>> Context::allStreams() {
    std::lock_guard<std::mutex> lock(mutex);
    std::vector<std::shared_ptr<Stream>> list(streams.begin(), streams.end());
    if (legacy) list.push_back(legacy);
    return list;
}

void drainDevice(Context& context) {
    for (auto& stream : context.allStreams()) stream->drain();
}

// What the null stream promises: its work starts when all earlier work of blocking streams is done, and theirs when its is.
static std::function<void()> afterNullStreamRules(const std::shared_ptr<Stream>& stream, std::function<void()> work) {
    Context& context = stream->context;
    std::vector<std::pair<std::shared_ptr<Stream>, uint64_t>> before;
    std::shared_ptr<Stream> legacy;
    {
        std::lock_guard<std::mutex> lock(context.mutex);
        legacy = context.legacy;
    }
    if (stream == legacy) {
        for (auto& other : context.allStreams()) {
            if (other->blocking) before.emplace_back(other, other->position());
        }
    } else if (stream->blocking && legacy) {
        before.emplace_back(legacy, legacy->position());
    }
    if (before.empty()) return work;
    return [before, work = std::move(work)] {
        for (auto& [other, position] : before) other->await(position);
        work();
    };
}

std::shared_mutex& enqueuing() {
    static auto* mutex = new std::shared_mutex;
    return *mutex;
}

CUresult enqueue(const std::shared_ptr<Stream>& stream, Operation operation) {
    std::shared_lock<std::shared_mutex> lock(enqueuing());
    bool captured = false;
    REQUIRE(Capture::admit(stream, &captured));
    trace(stream->context.device, stream->number, captured, operation.kind, operation.name);
    if (captured) return Capture::add(stream, std::make_shared<Operation>(std::move(operation)));
    operation.work = afterNullStreamRules(stream, std::move(operation.work));
    stream->submit(std::make_shared<Operation>(std::move(operation)));
    return stream->context.sticky.load();
}

}  // namespace cusim

using namespace cusim;

API CUresult cuStreamCreateWithPriority(CUstream* handle, unsigned flags, int priority) {
    REQUIRE(ready());
    if (!handle || flags > CU_STREAM_NON_BLOCKING) return CUDA_ERROR_INVALID_VALUE;
    Context& context = *current();
    std::lock_guard<std::mutex> lock(context.mutex);
    int clamped = priority < -5 ? -5 : priority > 0 ? 0 : priority;
    auto stream = Stream::create(context, context.nextStream++, !(flags & CU_STREAM_NON_BLOCKING), clamped);
    context.streams.insert(stream);
    *handle = streams().add(stream);
    return CUDA_SUCCESS;
}

API CUresult cuStreamCreate(CUstream* handle, unsigned flags) {
    return cuStreamCreateWithPriority(handle, flags, 0);
}

API CUresult cuStreamDestroy_v2(CUstream handle) {
    auto stream = streams().remove(handle);
    if (!stream) return CUDA_ERROR_INVALID_HANDLE;
    Capture::forbid(*stream, "cuStreamDestroy");
    {
        std::lock_guard<std::mutex> lock(stream->context.mutex);
        stream->context.streams.erase(stream);
    }
    stream->retire();
    return CUDA_SUCCESS;
}

API CUresult cuStreamSynchronize(CUstream handle) {
    REQUIRE(ready());
    auto stream = Stream::of(handle);
    if (!stream) return CUDA_ERROR_INVALID_HANDLE;
    REQUIRE(Capture::forbid(*stream, "cuStreamSynchronize"));
    if (Stream::isNull(handle)) {
        for (auto& other : stream->context.allStreams()) {
            if (other->blocking) other->drain();
        }
    }
    stream->drain();
    return stream->context.sticky.load();
}

API CUresult cuStreamQuery(CUstream handle) {
    REQUIRE(ready());
    auto stream = Stream::of(handle);
    if (!stream) return CUDA_ERROR_INVALID_HANDLE;
    REQUIRE(Capture::forbid(*stream, "cuStreamQuery"));
    return stream->idle() ? stream->context.sticky.load() : CUDA_ERROR_NOT_READY;
}

// Needs no context, since it tells one.
API CUresult cuStreamGetCtx(CUstream handle, CUcontext* context) {
    auto stream = Stream::of(handle);
    if (!stream) return CUDA_ERROR_INVALID_HANDLE;
    *context = stream->context.handle();
    return CUDA_SUCCESS;
}

API CUresult cuStreamGetPriority(CUstream handle, int* priority) {
    REQUIRE(ready());
    auto stream = Stream::of(handle);
    if (!stream) return CUDA_ERROR_INVALID_HANDLE;
    *priority = stream->priority;
    return CUDA_SUCCESS;
}

API CUresult cuStreamGetFlags(CUstream handle, unsigned* flags) {
    REQUIRE(ready());
    auto stream = Stream::of(handle);
    if (!stream) return CUDA_ERROR_INVALID_HANDLE;
    *flags = stream->blocking || Stream::isNull(handle) ? CU_STREAM_DEFAULT : CU_STREAM_NON_BLOCKING;
    return CUDA_SUCCESS;
}

API CUresult cuStreamGetId(CUstream handle, unsigned long long* id) {
    REQUIRE(ready());
    auto stream = Stream::of(handle);
    if (!stream) return CUDA_ERROR_INVALID_HANDLE;
    *id = stream->number;
    return CUDA_SUCCESS;
}

API CUresult cuCtxSynchronize() {
    REQUIRE(ready());
    REQUIRE(Capture::forbidDevice(*current(), "cuCtxSynchronize"));
    drainDevice(*current());
    return current()->sticky.load();
}

API CUresult cuLaunchHostFunc(CUstream handle, CUhostFn function, void* data) {
    REQUIRE(ready());
    auto stream = Stream::of(handle);
    if (!stream) return CUDA_ERROR_INVALID_HANDLE;
    return enqueue(stream, {"host", "cuLaunchHostFunc", [=] {
                                InsideHostFunction inside;
                                unguarded([=] { function(data); });
                            }});
}

API CUresult cusimEnqueue(
        CUstream handle, const char* kind, const char* name, CUhostFn work, void* data, CUhostFn release) {
    std::shared_ptr<void> held(data, [release](void* released) {
        if (release) release(released);
    });
    REQUIRE(ready());
    auto stream = Stream::of(handle);
    if (!stream) return CUDA_ERROR_INVALID_HANDLE;
    return enqueue(stream, {kind, name, [work, held] { work(held.get()); }});
}
