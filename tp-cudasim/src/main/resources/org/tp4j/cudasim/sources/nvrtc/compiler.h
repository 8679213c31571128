// Compiles CUDA C++ to a library of the host, with g++ behind a cache on disk.
#pragma once
#include <map>
#include <string>

#include "nvrtc/options.h"

namespace cusim {

struct Source {
    std::string name;
    std::string text;
    std::map<std::string, std::string> headers;  // by the name in the #include
};

struct Compiled {
    bool succeeded = false;
    std::string path;  // of the library in the cache
    std::string log;
};

// The cache (CUSIM_CACHE, otherwise beside this library) is shared by processes: of several that want the same, one
// compiles and the others wait.
Compiled compile(const Source& source, const Options& options);

std::string readFile(const std::string& path);

}  // namespace cusim
