#pragma once
#include "driver/core.h"

namespace cusim {

// The bytes of the host library behind what is given to cuModuleLoadData: the library itself, or the simulated NVRTC's PTX.
CUresult readImage(const void* image, std::string* bytes);

}  // namespace cusim
