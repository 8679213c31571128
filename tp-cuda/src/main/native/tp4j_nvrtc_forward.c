/* Stands in for libnvrtc.so.12 on machines with CUDA 13; see forward.h. The functions are all that JCuda 12.6 imports. */
#define FORWARD_TARGET "libnvrtc.so.13"
#define FORWARD_UNSUPPORTED 11 /* NVRTC_ERROR_INTERNAL_ERROR */
#include "forward.h"

FORWARD(nvrtcAddNameExpression)
FORWARD(nvrtcCompileProgram)
FORWARD(nvrtcCreateProgram)
FORWARD(nvrtcDestroyProgram)
FORWARD(nvrtcGetCUBIN)
FORWARD(nvrtcGetCUBINSize)
FORWARD(nvrtcGetErrorString)
FORWARD(nvrtcGetLTOIR)
FORWARD(nvrtcGetLTOIRSize)
FORWARD(nvrtcGetLoweredName)
FORWARD(nvrtcGetNVVM)
FORWARD(nvrtcGetNVVMSize)
FORWARD(nvrtcGetNumSupportedArchs)
FORWARD(nvrtcGetOptiXIR)
FORWARD(nvrtcGetOptiXIRSize)
FORWARD(nvrtcGetPTX)
FORWARD(nvrtcGetPTXSize)
FORWARD(nvrtcGetProgramLog)
FORWARD(nvrtcGetProgramLogSize)
FORWARD(nvrtcGetSupportedArchs)
FORWARD(nvrtcVersion)
