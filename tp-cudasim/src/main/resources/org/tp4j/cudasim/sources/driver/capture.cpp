#include "driver/capture.h"

#include <algorithm>

namespace cusim {

namespace {

std::mutex captureMutex;                       // guards every capture and what streams and events keep of one
std::vector<std::shared_ptr<Capture>> active;  // the captures going on
std::atomic<size_t> activeCount{0};            // read first, so that work outside of captures takes no lock
thread_local CUstreamCaptureMode threadMode = CU_STREAM_CAPTURE_MODE_GLOBAL;

}  // namespace

void Capture::invalidate(const char* why) {
    if (valid_) say("capture %llu is spoiled: %s", static_cast<unsigned long long>(id_), why);
    valid_ = false;
}

size_t Capture::laneOf(const std::shared_ptr<Stream>& stream) {
    auto at = std::find(participants_.begin(), participants_.end(), stream);
    return at - participants_.begin();
}

CUresult Capture::admit(const std::shared_ptr<Stream>& stream, bool* captured) {
    *captured = false;
    if (!activeCount) return CUDA_SUCCESS;
    std::lock_guard<std::mutex> lock(captureMutex);
    if (stream->capture) {
        *captured = true;
        return stream->capture->valid_ ? CUDA_SUCCESS : CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    }
    if (stream != stream->context.legacy) return CUDA_SUCCESS;
    for (auto& capture : active) {
        for (auto& other : capture->participants_) {
            if (&other->context == &stream->context && other->blocking) {
                capture->invalidate("work on the null stream would wait for a blocking stream that captures");
                return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
            }
        }
    }
    return CUDA_SUCCESS;
}

CUresult Capture::add(const std::shared_ptr<Stream>& stream, OperationPtr operation) {
    std::lock_guard<std::mutex> lock(captureMutex);
    auto capture = stream->capture;
    if (!capture) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    auto& nodes = capture->graph_->nodes;
    nodes.push_back({std::move(operation), stream->frontier, capture->laneOf(stream)});
    stream->frontier = {nodes.size() - 1};
    return CUDA_SUCCESS;
}

CUresult Capture::begin(const std::shared_ptr<Stream>& stream, CUstreamCaptureMode mode) {
    static uint64_t made = 0;
    std::lock_guard<std::mutex> lock(captureMutex);
    if (stream->capture) return refuse(CUDA_ERROR_ILLEGAL_STATE, "cuStreamBeginCapture: the stream is capturing already");
    auto capture = std::make_shared<Capture>();
    capture->id_ = ++made;
    capture->mode_ = mode;
    capture->thread_ = std::this_thread::get_id();
    capture->origin_ = stream;
    capture->participants_.push_back(stream);
    capture->graph_->lanes.push_back(&stream->context);
    stream->capture = capture;
    stream->frontier.clear();
    active.push_back(capture);
    activeCount = active.size();
    return CUDA_SUCCESS;
}

CUresult Capture::end(const std::shared_ptr<Stream>& stream, std::shared_ptr<Graph>* graph) {
    std::lock_guard<std::mutex> lock(captureMutex);
    auto capture = stream->capture;
    if (!capture) return refuse(CUDA_ERROR_ILLEGAL_STATE, "cuStreamEndCapture: the stream is not capturing");
    if (capture->origin_ != stream) {
        capture->invalidate("cuStreamEndCapture on another stream than the one it began on");
        return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
    }
    if (capture->mode_ != CU_STREAM_CAPTURE_MODE_RELAXED && capture->thread_ != std::this_thread::get_id()) {
        return refuse(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD, "cuStreamEndCapture: another thread began this capture");
    }

    // What the first stream's last nodes depend on, directly or not; dependencies point backwards.
    auto& nodes = capture->graph_->nodes;
    std::vector<bool> joined(nodes.size(), false);
    for (size_t node : stream->frontier) joined[node] = true;
    for (size_t i = nodes.size(); i-- > 0;) {
        if (!joined[i]) continue;
        for (size_t dependency : nodes[i].dependencies) joined[dependency] = true;
    }

    for (auto& participant : capture->participants_) {
        participant->capture = nullptr;
        participant->frontier.clear();
    }
    capture->ended_ = true;
    active.erase(std::find(active.begin(), active.end(), capture));
    activeCount = active.size();

    if (!capture->valid_) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    for (size_t i = 0; i < nodes.size(); i++) {
        if (!joined[i]) {
            return refuse(CUDA_ERROR_STREAM_CAPTURE_UNJOINED,
                    "cuStreamEndCapture: %s %s on stream %u of device %d was not joined to the first stream",
                    nodes[i].operation->kind, nodes[i].operation->name.c_str(),
                    capture->participants_[nodes[i].lane]->number,
                    capture->participants_[nodes[i].lane]->context.device);
        }
    }
    *graph = capture->graph_;
    return CUDA_SUCCESS;
}

CUresult Capture::record(const std::shared_ptr<Stream>& stream, Event& event, bool* captured) {
    std::lock_guard<std::mutex> lock(captureMutex);
    event.capture = stream->capture;
    event.frontier = stream->frontier;
    *captured = event.capture != nullptr;
    return *captured && !event.capture->valid_ ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : CUDA_SUCCESS;
}

CUresult Capture::wait(const std::shared_ptr<Stream>& stream, Event& event, bool* captured) {
    std::lock_guard<std::mutex> lock(captureMutex);
    auto ours = stream->capture;
    auto theirs = event.capture;
    *captured = ours || theirs;
    if (!*captured) return CUDA_SUCCESS;
    if (theirs && theirs->ended_) {
        if (ours) ours->invalidate("cuStreamWaitEvent on an event of an earlier capture");
        return refuse(CUDA_ERROR_CAPTURED_EVENT, "cuStreamWaitEvent: the event was last recorded in a capture that ended");
    }
    if (!theirs) {
        ours->invalidate("cuStreamWaitEvent on an event that was not recorded in this capture");
        return CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
    }
    if (ours && ours != theirs) {
        ours->invalidate("cuStreamWaitEvent on an event of another capture");
        theirs->invalidate("a stream of another capture waits for its event");
        return CUDA_ERROR_STREAM_CAPTURE_MERGE;
    }
    if (!theirs->valid_) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    if (!ours) {
        if (stream == stream->context.legacy) {
            theirs->invalidate("the null stream waits for an event of it");
            return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
        }
        stream->capture = theirs;
        stream->frontier.clear();
        if (theirs->laneOf(stream) == theirs->participants_.size()) {
            theirs->participants_.push_back(stream);
            theirs->graph_->lanes.push_back(&stream->context);
        }
    }
    stream->frontier.insert(event.frontier.begin(), event.frontier.end());
    return CUDA_SUCCESS;
}

CUresult Capture::forbid(Stream& stream, const char* who) {
    if (!activeCount) return CUDA_SUCCESS;
    std::lock_guard<std::mutex> lock(captureMutex);
    if (!stream.capture) return CUDA_SUCCESS;
    stream.capture->invalidate(who);
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

CUresult Capture::forbidDevice(Context& context, const char* who) {
    if (!activeCount) return CUDA_SUCCESS;
    std::lock_guard<std::mutex> lock(captureMutex);
    CUresult status = CUDA_SUCCESS;
    for (auto& capture : active) {
        for (auto& stream : capture->participants_) {
            if (&stream->context != &context) continue;
            capture->invalidate(who);
            status = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
        }
    }
    return status;
}

CUresult Capture::forbidEvent(Event& event, const char* who) {
    std::lock_guard<std::mutex> lock(captureMutex);
    if (!event.capture) return CUDA_SUCCESS;
    if (!event.capture->ended_) event.capture->invalidate(who);
    return refuse(CUDA_ERROR_CAPTURED_EVENT, "%s: the event was last recorded in a capture", who);
}

CUresult Capture::forbidUnsafe(const char* who) {
    if (!activeCount || threadMode == CU_STREAM_CAPTURE_MODE_RELAXED) return CUDA_SUCCESS;
    std::lock_guard<std::mutex> lock(captureMutex);
    CUresult status = CUDA_SUCCESS;
    for (auto& capture : active) {
        bool own = capture->thread_ == std::this_thread::get_id();
        bool reaches = own ? capture->mode_ != CU_STREAM_CAPTURE_MODE_RELAXED
                           : capture->mode_ == CU_STREAM_CAPTURE_MODE_GLOBAL && threadMode == CU_STREAM_CAPTURE_MODE_GLOBAL;
        if (!reaches) continue;
        capture->invalidate(who);
        status = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    return status;
}

CUstreamCaptureStatus Capture::status(Stream& stream, uint64_t* id) {
    std::lock_guard<std::mutex> lock(captureMutex);
    if (!stream.capture) return CU_STREAM_CAPTURE_STATUS_NONE;
    if (id) *id = stream.capture->id_;
    return stream.capture->valid_ ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_INVALIDATED;
}

CUstreamCaptureMode Capture::exchangeMode(CUstreamCaptureMode mode) {
    std::swap(threadMode, mode);
    return mode;
}

}  // namespace cusim
