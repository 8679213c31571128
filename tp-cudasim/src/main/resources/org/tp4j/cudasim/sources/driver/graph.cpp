#include "driver/graph.h"

#include "driver/capture.h"

namespace cusim {

// How far one launch has come.
struct GraphExec::Progress {
    explicit Progress(size_t nodes) : done(nodes, false), left(nodes) {}

    std::mutex mutex;
    std::condition_variable changed;
    std::vector<bool> done;
    size_t left;
};

GraphExec::GraphExec(std::shared_ptr<const Graph> graph) : graph_(std::move(graph)) {
    for (Context* context : graph_->lanes) lanes_.push_back(Stream::create(*context, 0, false, 0));
}

GraphExec::~GraphExec() {
    for (auto& lane : lanes_) lane->retire();
}

void GraphExec::runNode(const Graph& graph, size_t index, Progress& progress) {
    const GraphNode& node = graph.nodes[index];
    {
        std::unique_lock<std::mutex> lock(progress.mutex);
        progress.changed.wait(lock, [&] {
            for (size_t dependency : node.dependencies) {
                if (!progress.done[dependency]) return false;
            }
            return true;
        });
    }
    Context& context = *graph.lanes[node.lane];
    if (context.sticky.load() == CUDA_SUCCESS && !guarded(node.operation->work)) {
        say("device %d: %s %s of a graph touched an address that is not its memory; the context is lost",
                context.device, node.operation->kind, node.operation->name.c_str());
        context.fault(CUDA_ERROR_ILLEGAL_ADDRESS);
    }
    std::lock_guard<std::mutex> lock(progress.mutex);
    progress.done[index] = true;
    --progress.left;
    progress.changed.notify_all();
}

void GraphExec::run() {
    std::lock_guard<std::mutex> lock(running_);
    auto progress = std::make_shared<Progress>(graph_->nodes.size());
    for (size_t index = 0; index < graph_->nodes.size(); index++) {
        auto graph = graph_;
        lanes_[graph_->nodes[index].lane]->submit(std::make_shared<Operation>(
                Operation{"node", "", [graph, index, progress] { runNode(*graph, index, *progress); }, true}));
    }
    std::unique_lock<std::mutex> done(progress->mutex);
    progress->changed.wait(done, [&] { return progress->left == 0; });
}

Handles<Graph, CUgraph>& graphs() {
    static auto* handles = new Handles<Graph, CUgraph>(0x53);
    return *handles;
}

Handles<GraphExec, CUgraphExec>& graphExecs() {
    static auto* handles = new Handles<GraphExec, CUgraphExec>(0x54);
    return *handles;
}

}  // namespace cusim

using namespace cusim;

API CUresult cuStreamBeginCapture_v2(CUstream handle, CUstreamCaptureMode mode) {
    REQUIRE(ready());
    auto stream = Stream::of(handle);
    if (!stream) return CUDA_ERROR_INVALID_HANDLE;
    if (Stream::isNull(handle)) {
        return refuse(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "cuStreamBeginCapture: the null stream cannot be captured");
    }
    return Capture::begin(stream, mode);
}

API CUresult cuStreamEndCapture(CUstream handle, CUgraph* made) {
    REQUIRE(ready());
    auto stream = Stream::of(handle);
    if (!stream || !made) return CUDA_ERROR_INVALID_HANDLE;
    *made = nullptr;
    std::shared_ptr<Graph> graph;
    REQUIRE(Capture::end(stream, &graph));
    *made = graphs().add(graph);
    return CUDA_SUCCESS;
}

API CUresult cuStreamIsCapturing(CUstream handle, CUstreamCaptureStatus* status) {
    REQUIRE(ready());
    auto stream = Stream::of(handle);
    if (!stream) return CUDA_ERROR_INVALID_HANDLE;
    *status = Capture::status(*stream, nullptr);
    return CUDA_SUCCESS;
}

API CUresult cuStreamGetCaptureInfo_v2(CUstream handle, CUstreamCaptureStatus* status, cuuint64_t* id, CUgraph* graph,
        const CUgraphNode** dependencies, size_t* count) {
    REQUIRE(ready());
    auto stream = Stream::of(handle);
    if (!stream) return CUDA_ERROR_INVALID_HANDLE;
    if (graph || dependencies || count) {
        return refuse(CUDA_ERROR_NOT_SUPPORTED, "cuStreamGetCaptureInfo: only the status and the id are simulated");
    }
    uint64_t number = 0;
    *status = Capture::status(*stream, &number);
    if (id) *id = number;
    return CUDA_SUCCESS;
}

API CUresult cuStreamGetCaptureInfo(CUstream handle, CUstreamCaptureStatus* status, cuuint64_t* id) {
    return cuStreamGetCaptureInfo_v2(handle, status, id, nullptr, nullptr, nullptr);
}

API CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
    *mode = Capture::exchangeMode(*mode);
    return CUDA_SUCCESS;
}

API CUresult cuGraphInstantiateWithFlags(CUgraphExec* exec, CUgraph handle, unsigned long long flags) {
    REQUIRE(ready());
    auto graph = graphs().find(handle);
    if (!graph || !exec) return CUDA_ERROR_INVALID_VALUE;
    if (flags) return refuse(CUDA_ERROR_NOT_SUPPORTED, "cuGraphInstantiate: flags %llu are not simulated", flags);
    *exec = graphExecs().add(std::make_shared<GraphExec>(graph));
    return CUDA_SUCCESS;
}

API CUresult cuGraphLaunch(CUgraphExec handle, CUstream streamHandle) {
    REQUIRE(ready());
    auto exec = graphExecs().find(handle);
    auto stream = Stream::of(streamHandle);
    if (!exec || !stream) return CUDA_ERROR_INVALID_HANDLE;
    return enqueue(stream, {"graph", "launch", [exec] { exec->run(); }});
}

API CUresult cuGraphUpload(CUgraphExec handle, CUstream stream) {
    REQUIRE(ready());
    return graphExecs().find(handle) && Stream::of(stream) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

API CUresult cuGraphExecDestroy(CUgraphExec handle) {
    return graphExecs().remove(handle) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

API CUresult cuGraphDestroy(CUgraph handle) {
    return graphs().remove(handle) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

// With no array for the nodes it only counts them.
API CUresult cuGraphGetNodes(CUgraph handle, CUgraphNode* nodes, size_t* count) {
    auto graph = graphs().find(handle);
    if (!graph || !count) return CUDA_ERROR_INVALID_VALUE;
    if (nodes) {
        for (size_t i = 0; i < *count; i++) {
            const GraphNode* node = i < graph->nodes.size() ? &graph->nodes[i] : nullptr;
            nodes[i] = reinterpret_cast<CUgraphNode>(const_cast<GraphNode*>(node));
        }
    }
    *count = graph->nodes.size();
    return CUDA_SUCCESS;
}

API CUresult cuGraphNodeGetType(CUgraphNode node, CUgraphNodeType* type) {
    if (!node) return CUDA_ERROR_INVALID_VALUE;
    const std::string kind = reinterpret_cast<const GraphNode*>(node)->operation->kind;
    *type = kind == "copy" ? CU_GRAPH_NODE_TYPE_MEMCPY
            : kind == "set" ? CU_GRAPH_NODE_TYPE_MEMSET
            : kind == "host" ? CU_GRAPH_NODE_TYPE_HOST
                             : CU_GRAPH_NODE_TYPE_KERNEL;
    return CUDA_SUCCESS;
}
