// Events: marks in streams that the host and other streams can wait for.
#include "driver/capture.h"

using namespace cusim;

API CUresult cuEventCreate(CUevent* handle, unsigned flags) {
    REQUIRE(ready());
    if (!handle || flags > 7) return CUDA_ERROR_INVALID_VALUE;
    *handle = events().add(std::make_shared<Event>(*current(), flags));
    return CUDA_SUCCESS;
}

API CUresult cuEventDestroy_v2(CUevent handle) {
    return events().remove(handle) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

API CUresult cuEventRecordWithFlags(CUevent handle, CUstream streamHandle, unsigned flags) {
    REQUIRE(ready());
    auto event = events().find(handle);
    auto stream = Stream::of(streamHandle);
    if (!event || !stream) return CUDA_ERROR_INVALID_HANDLE;
    if (flags) return refuse(CUDA_ERROR_NOT_SUPPORTED, "cuEventRecordWithFlags: flags %u are not simulated", flags);
    if (&event->context != &stream->context) {
        return refuse(CUDA_ERROR_INVALID_HANDLE, "cuEventRecord: the event is of device %d, the stream of device %d",
                event->context.device, stream->context.device);
    }
    std::string name = std::to_string(reinterpret_cast<uintptr_t>(handle) >> 4 & 0xFFFFFF);
    bool captured = false;
    CUresult status = Capture::record(stream, *event, &captured);
    if (captured) {
        trace(stream->context.device, stream->number, true, "record", name);
        return status;
    }
    uint64_t turn;
    {
        std::lock_guard<std::mutex> lock(event->mutex);
        turn = ++event->recorded;
    }
    auto mark = [event, turn] {
        std::lock_guard<std::mutex> lock(event->mutex);
        event->reached = turn;
        event->time = std::chrono::steady_clock::now();
        event->changed.notify_all();
    };
    return enqueue(stream, {"record", name, mark, true});
}

API CUresult cuEventRecord(CUevent handle, CUstream stream) {
    return cuEventRecordWithFlags(handle, stream, 0);
}

API CUresult cuStreamWaitEvent(CUstream streamHandle, CUevent handle, unsigned flags) {
    REQUIRE(ready());
    auto event = events().find(handle);
    auto stream = Stream::of(streamHandle);
    if (!event || !stream) return CUDA_ERROR_INVALID_HANDLE;
    if (flags) return refuse(CUDA_ERROR_NOT_SUPPORTED, "cuStreamWaitEvent: flags %u are not simulated", flags);
    std::string name = std::to_string(reinterpret_cast<uintptr_t>(handle) >> 4 & 0xFFFFFF);
    bool captured = false;
    CUresult status = Capture::wait(stream, *event, &captured);
    if (captured) {
        trace(stream->context.device, stream->number, true, "wait", name);
        return status;
    }
    uint64_t turn;
    {
        std::lock_guard<std::mutex> lock(event->mutex);
        turn = event->recorded;
    }
    auto wait = [event, turn] {
        std::unique_lock<std::mutex> lock(event->mutex);
        event->changed.wait(lock, [&] { return event->reached >= turn; });
    };
    return enqueue(stream, {"wait", name, wait, true});
}

API CUresult cuEventSynchronize(CUevent handle) {
    REQUIRE(ready());
    auto event = events().find(handle);
    if (!event) return CUDA_ERROR_INVALID_HANDLE;
    REQUIRE(Capture::forbidEvent(*event, "cuEventSynchronize"));
    REQUIRE(Capture::forbidUnsafe("cuEventSynchronize"));
    std::unique_lock<std::mutex> lock(event->mutex);
    uint64_t turn = event->recorded;
    event->changed.wait(lock, [&] { return event->reached >= turn; });
    return event->context.sticky.load();
}

API CUresult cuEventQuery(CUevent handle) {
    REQUIRE(ready());
    auto event = events().find(handle);
    if (!event) return CUDA_ERROR_INVALID_HANDLE;
    REQUIRE(Capture::forbidEvent(*event, "cuEventQuery"));
    REQUIRE(Capture::forbidUnsafe("cuEventQuery"));
    std::lock_guard<std::mutex> lock(event->mutex);
    return event->reached >= event->recorded ? event->context.sticky.load() : CUDA_ERROR_NOT_READY;
}

// Milliseconds of the host's clock; they say nothing about a GPU.
API CUresult cuEventElapsedTime(float* milliseconds, CUevent startHandle, CUevent endHandle) {
    REQUIRE(ready());
    auto start = events().find(startHandle);
    auto end = events().find(endHandle);
    if (!start || !end || !start->timed || !end->timed) return CUDA_ERROR_INVALID_HANDLE;
    REQUIRE(Capture::forbidEvent(*start, "cuEventElapsedTime"));
    REQUIRE(Capture::forbidEvent(*end, "cuEventElapsedTime"));
    std::chrono::steady_clock::time_point from;
    {
        std::lock_guard<std::mutex> lock(start->mutex);
        if (!start->recorded) return CUDA_ERROR_INVALID_HANDLE;
        if (start->reached < start->recorded) return CUDA_ERROR_NOT_READY;
        from = start->time;
    }
    std::lock_guard<std::mutex> lock(end->mutex);
    if (!end->recorded) return CUDA_ERROR_INVALID_HANDLE;
    if (end->reached < end->recorded) return CUDA_ERROR_NOT_READY;
    *milliseconds = std::chrono::duration<float, std::milli>(end->time - from).count();
    return CUDA_SUCCESS;
}

API CUresult cuEventElapsedTime_v2(float* milliseconds, CUevent start, CUevent end) {
    return cuEventElapsedTime(milliseconds, start, end);
}
