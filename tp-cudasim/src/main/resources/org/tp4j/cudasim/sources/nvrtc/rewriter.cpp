#include "nvrtc/rewriter.h"

#include <regex>

namespace cusim {

namespace {

const char* const BOUNDS = R"RE((?:__launch_bounds__\s*\(([^(),]+)[^()]*\)\s*)?)RE";

// extern "C" __global__ void name(, with launch bounds before or behind void.
const std::regex& kernelPattern() {
    static const std::regex pattern(std::string(R"RE(extern\s+"C"\s+__global__\s+)RE") + BOUNDS + R"RE(void\s+)RE" + BOUNDS +
            R"RE(([A-Za-z_]\w*)\s*\()RE");
    return pattern;
}

// extern __shared__ type name[]; with an alignment before or behind __shared__.
const std::regex& dynamicPattern() {
    static const std::string align = R"RE((?:(?:__align__|alignas)\s*\([^()]*\)\s*)?)RE";
    static const std::regex pattern(R"RE(extern\s+)RE" + align + R"RE(__shared__\s+)RE" + align +
            R"RE(([A-Za-z_][\w:\s]*?)\s+)RE" + align + R"RE(([A-Za-z_]\w*)\s*\[\s*\]\s*;)RE");
    return pattern;
}

}  // namespace

std::string rewrite(const std::string& expanded, int architecture, std::string* error) {
    std::string body = std::regex_replace(
            expanded, dynamicPattern(), "$1* const $2 = reinterpret_cast<$1*>(cusim::dynamicShared);");
    if (std::regex_search(body, std::regex(R"RE(extern\s+(?:(?:__align__|alignas)\s*\([^()]*\)\s*)?__shared__)RE"))) {
        *error = "a dynamic shared array is written as: extern __shared__ TYPE NAME[];";
    }
    if (std::regex_search(body, std::regex(R"RE(\basm\b)RE"))) {
        *error = "inline assembly does not run on simulated devices (keep it behind #ifndef CUSIM)";
    }
    std::string exports = "CUSIM_IMAGE(" + std::to_string(architecture) + ")\n";
    for (std::sregex_iterator at(expanded.begin(), expanded.end(), kernelPattern()), end; at != end; ++at) {
        const std::smatch& kernel = *at;
        std::string bounds = kernel[1].matched ? kernel[1].str() : kernel[2].matched ? kernel[2].str() : "1024";
        exports += "CUSIM_KERNEL(" + kernel[3].str() + ", (" + bounds + "))\n";
    }
    // In a namespace without a name everything is the module's own.
    return "#include \"cusim.h\"\nnamespace {\n" + body + "\n}\n#line 1 \"kernels\"\n" + exports;
}

}  // namespace cusim
