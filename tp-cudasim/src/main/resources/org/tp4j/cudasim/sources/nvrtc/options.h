// The options of nvrtcCompileProgram.
#pragma once
#include <string>
#include <vector>

namespace cusim {

struct Options {
    int architecture = 52;        // NVRTC's default
    bool binary = false;          // sm_NN rather than compute_NN: makes a cubin
    bool contract = true;         // a * b + c in one rounding
    std::string standard = "c++17";
    std::vector<std::string> preprocessor;  // -D, -U, -I, as the host compiler takes them
};

const std::vector<int>& architectures();

// Reads the options; false, with the reason in *error, at the first that NVRTC would refuse.
bool parseOptions(const std::vector<std::string>& given, Options* options, std::string* error);

}  // namespace cusim
