// Graphs of operations and their replay.
#pragma once
#include "driver/stream.h"

namespace cusim {

struct GraphNode {
    OperationPtr operation;
    std::set<size_t> dependencies;  // places of other nodes, always smaller
    size_t lane;                    // which of the captured streams it came from
};

struct Graph {
    std::vector<GraphNode> nodes;
    std::vector<Context*> lanes;  // the context of each captured stream
};

// A graph that can be launched. Each captured stream has a thread of its own here too, so that branches overlap and only
// the edges of the graph order them.
class GraphExec {
public:
    explicit GraphExec(std::shared_ptr<const Graph> graph);
    ~GraphExec();

    // Runs all nodes and waits for them. Launches of one exec do not overlap.
    void run();
    int device() const { return graph_->lanes[0]->device; }

private:
    struct Progress;
    static void runNode(const Graph& graph, size_t index, Progress& progress);

    const std::shared_ptr<const Graph> graph_;
    std::vector<std::shared_ptr<Stream>> lanes_;
    std::mutex running_;
};

Handles<Graph, CUgraph>& graphs();
Handles<GraphExec, CUgraphExec>& graphExecs();

}  // namespace cusim
