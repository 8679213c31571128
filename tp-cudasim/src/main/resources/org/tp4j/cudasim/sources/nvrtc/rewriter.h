// Turns CUDA C++ whose macros are expanded into C++ for the host.
#pragma once
#include <string>

namespace cusim {

// The text for g++: cusim.h in front, dynamic shared arrays as pointers, and what each kernel exports behind.
// *error says what the simulator cannot do.
std::string rewrite(const std::string& expanded, int architecture, std::string* error);

}  // namespace cusim
