#include "driver/core.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace cusim {

long setting(const char* name, long fallback) {
    const char* text = getenv(name);
    return text && *text ? strtol(text, nullptr, 10) : fallback;
}

static void write(const char* format, va_list arguments) {
    char line[1024];
    int prefix = snprintf(line, sizeof line, "[cudasim] ");
    vsnprintf(line + prefix, sizeof line - prefix - 1, format, arguments);
    strcat(line, "\n");
    fputs(line, stderr);  // one call, so that lines of several threads do not mix
}

void say(const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    write(format, arguments);
    va_end(arguments);
}

CUresult refuse(CUresult status, const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    write(format, arguments);
    va_end(arguments);
    return status;
}

// The trace file; "%p" in its name stands for the process id. Appended to line by line, so that it is complete even
// when the process is killed.
static int traceFile() {
    static int file = [] {
        const char* setting = getenv("CUSIM_TRACE");
        if (!setting || !*setting) return -1;
        std::string path = setting;
        size_t at = path.find("%p");
        if (at != std::string::npos) path.replace(at, 2, std::to_string(getpid()));
        int opened = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
        if (opened < 0) say("CUSIM_TRACE: cannot write %s: %s", path.c_str(), strerror(errno));
        return opened;
    }();
    return file;
}

void trace(int device, unsigned stream, bool captured, const char* kind, const std::string& name) {
    int file = traceFile();
    if (file < 0) return;
    static std::mutex mutex;
    static unsigned long sequence = 0;
    std::lock_guard<std::mutex> lock(mutex);
    std::string line = std::to_string(sequence++) + "\t" + std::to_string(device) + "\t" + std::to_string(stream) + "\t" +
            (captured ? "capture" : "run") + "\t" + kind + "\t" + name + "\n";
    if (::write(file, line.data(), line.size()) < 0) say("CUSIM_TRACE: %s", strerror(errno));
}

const char* nameOf(CUresult status) {
    switch (status) {
#define NAME(value) \
    case value: return #value;
        NAME(CUDA_SUCCESS)
        NAME(CUDA_ERROR_INVALID_VALUE)
        NAME(CUDA_ERROR_OUT_OF_MEMORY)
        NAME(CUDA_ERROR_NOT_INITIALIZED)
        NAME(CUDA_ERROR_NO_DEVICE)
        NAME(CUDA_ERROR_INVALID_DEVICE)
        NAME(CUDA_ERROR_INVALID_IMAGE)
        NAME(CUDA_ERROR_INVALID_CONTEXT)
        NAME(CUDA_ERROR_NO_BINARY_FOR_GPU)
        NAME(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED)
        NAME(CUDA_ERROR_INVALID_PTX)
        NAME(CUDA_ERROR_OPERATING_SYSTEM)
        NAME(CUDA_ERROR_INVALID_HANDLE)
        NAME(CUDA_ERROR_ILLEGAL_STATE)
        NAME(CUDA_ERROR_NOT_FOUND)
        NAME(CUDA_ERROR_NOT_READY)
        NAME(CUDA_ERROR_ILLEGAL_ADDRESS)
        NAME(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES)
        NAME(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED)
        NAME(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED)
        NAME(CUDA_ERROR_CONTEXT_IS_DESTROYED)
        NAME(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED)
        NAME(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED)
        NAME(CUDA_ERROR_LAUNCH_FAILED)
        NAME(CUDA_ERROR_NOT_PERMITTED)
        NAME(CUDA_ERROR_NOT_SUPPORTED)
        NAME(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED)
        NAME(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED)
        NAME(CUDA_ERROR_STREAM_CAPTURE_MERGE)
        NAME(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED)
        NAME(CUDA_ERROR_STREAM_CAPTURE_UNJOINED)
        NAME(CUDA_ERROR_STREAM_CAPTURE_ISOLATION)
        NAME(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT)
        NAME(CUDA_ERROR_CAPTURED_EVENT)
        NAME(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD)
        NAME(CUDA_ERROR_UNKNOWN)
#undef NAME
    }
    return nullptr;
}

}  // namespace cusim

API CUresult cuGetErrorName(CUresult status, const char** text) {
    *text = cusim::nameOf(status);
    return *text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

API CUresult cuGetErrorString(CUresult status, const char** text) {
    return cuGetErrorName(status, text);
}
