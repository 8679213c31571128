// Stream capture, as the driver defines it: work put on a capturing stream becomes a node of a graph; waiting for an
// event that was recorded there draws another stream in; everything must have come back to the first stream at the end.
#pragma once
#include "driver/graph.h"
#include "driver/stream.h"

namespace cusim {

class Capture {
public:
    // Whether work may be put on the stream now, and whether it is captured.
    static CUresult admit(const std::shared_ptr<Stream>& stream, bool* captured);
    static CUresult add(const std::shared_ptr<Stream>& stream, OperationPtr operation);

    static CUresult begin(const std::shared_ptr<Stream>& stream, CUstreamCaptureMode mode);
    // The graph, complete, or a status that says what is wrong with it.
    static CUresult end(const std::shared_ptr<Stream>& stream, std::shared_ptr<Graph>* graph);

    // Records into an event on a capturing stream; `captured` says whether that was the case.
    static CUresult record(const std::shared_ptr<Stream>& stream, Event& event, bool* captured);
    // Waits for an event where the stream or the event is part of a capture; `captured` says whether that was the case.
    static CUresult wait(const std::shared_ptr<Stream>& stream, Event& event, bool* captured);

    // Calls that spoil a capture, with CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED: on a stream that captures,
    static CUresult forbid(Stream& stream, const char* who);
    // on a device with such a stream,
    static CUresult forbidDevice(Context& context, const char* who);
    // on an event that was recorded in a capture,
    static CUresult forbidEvent(Event& event, const char* who);
    // and from any thread while a capture in global mode is going on (or one of its own).
    static CUresult forbidUnsafe(const char* who);

    static CUstreamCaptureStatus status(Stream& stream, uint64_t* id);
    static CUstreamCaptureMode exchangeMode(CUstreamCaptureMode mode);

private:
    void invalidate(const char* why);
    size_t laneOf(const std::shared_ptr<Stream>& stream);

    uint64_t id_ = 0;
    CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_GLOBAL;
    std::thread::id thread_;
    std::shared_ptr<Stream> origin_;
    std::vector<std::shared_ptr<Stream>> participants_;  // the place of one is its lane
    std::shared_ptr<Graph> graph_ = std::make_shared<Graph>();
    bool valid_ = true;
    bool ended_ = false;
};

}  // namespace cusim
