#include "driver/leaks.h"

#include <cstdio>
#include <cstdlib>
#include <unistd.h>

#include "driver/graph.h"
#include "driver/launch.h"
#include "driver/memory.h"

namespace cusim {

namespace {

// What is left of one kind on one device.
struct Count {
    long objects = 0;
    size_t bytes = 0;
};

using Counts = std::map<int, std::map<std::string, Count>>;

std::mutex othersMutex;
std::map<int, std::map<std::string, long>>& others() {
    static auto* counts = new std::map<int, std::map<std::string, long>>;
    return *counts;
}

Counts count() {
    Counts counts;
    for (auto& context : machine()) {
        auto& own = counts[context->device];
        for (const char* kind : {"allocations of device memory", "allocations of pinned memory", "streams", "events", "modules", "graphs", "graph execs"}) {
            own[kind];
        }
    }
    for (auto& allocation : Memory::instance().all()) {
        Count& kind = counts[allocation.device][allocation.kind == Allocation::DEVICE ? "allocations of device memory" : "allocations of pinned memory"];
        kind.objects++;
        kind.bytes += allocation.bytes;
    }
    for (auto& stream : streams().all()) counts[stream->context.device]["streams"].objects++;
    for (auto& event : events().all()) counts[event->context.device]["events"].objects++;
    for (auto& module : modules().all()) counts[module->context.device]["modules"].objects++;
    for (auto& graph : graphs().all()) counts[graph->lanes[0]->device]["graphs"].objects++;
    for (auto& exec : graphExecs().all()) counts[exec->device()]["graph execs"].objects++;
    std::lock_guard<std::mutex> lock(othersMutex);
    for (auto& [device, kinds] : others()) {
        for (auto& [kind, objects] : kinds) counts[device][kind].objects = objects;
    }
    return counts;
}

// Lines "device<TAB>kind<TAB>objects<TAB>bytes", also of what is zero.
void writeReport(const Counts& counts) {
    const char* path = getenv("CUSIM_REPORT");
    if (!path || !*path) return;
    FILE* file = fopen(path, "w");
    if (!file) {
        say("CUSIM_REPORT: cannot write %s", path);
        return;
    }
    for (auto& [device, kinds] : counts) {
        for (auto& [kind, left] : kinds) fprintf(file, "%d\t%s\t%ld\t%zu\n", device, kind.c_str(), left.objects, left.bytes);
        fprintf(file, "%d\tcontext references\t%d\t0\n", device, machine()[device]->references.load());
    }
    fclose(file);
}

void atExit(int status, void*) {
    const char* mode = getenv("CUSIM_LEAKS");
    Counts counts = count();
    writeReport(counts);
    if (mode && std::string(mode) == "off") return;
    bool leaked = false;
    for (auto& [device, kinds] : counts) {
        for (auto& [kind, left] : kinds) {
            if (!left.objects) continue;
            leaked = true;
            if (left.bytes) {
                say("leak: device %d: %ld %s not released, %zu bytes", device, left.objects, kind.c_str(), left.bytes);
            } else {
                say("leak: device %d: %ld %s not released", device, left.objects, kind.c_str());
            }
        }
    }
    if (leaked && status == 0 && mode && std::string(mode) == "fatal") {
        fflush(nullptr);
        _exit(86);
    }
}

}  // namespace

void installLeakReport() {
    on_exit(atExit, nullptr);
}

}  // namespace cusim

using namespace cusim;

API void cusimCount(const char* kind, CUdevice device, int change) {
    std::lock_guard<std::mutex> lock(othersMutex);
    others()[devices()[device]->device][kind] += change;
}

API void cusimFault(CUdevice device, CUresult status) {
    devices()[device]->fault(status);
}
