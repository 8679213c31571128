// The simulated libnvrtc.so.12. Its cubin is a library of the host, which the simulated driver loads.
#include <cstring>
#include <memory>

#include "nvrtc/compiler.h"

#define API extern "C" __attribute__((visibility("default")))

namespace {

enum Result {
    NVRTC_SUCCESS = 0,
    NVRTC_ERROR_OUT_OF_MEMORY = 1,
    NVRTC_ERROR_PROGRAM_CREATION_FAILURE = 2,
    NVRTC_ERROR_INVALID_INPUT = 3,
    NVRTC_ERROR_INVALID_PROGRAM = 4,
    NVRTC_ERROR_INVALID_OPTION = 5,
    NVRTC_ERROR_COMPILATION = 6
};

struct Program {
    cusim::Source source;
    std::string log, cubin, ptx;
};

// Texts go out with their trailing zero, binaries as they are.
int giveSize(const Program* program, const std::string& text, size_t extra, size_t* bytes) {
    if (!program || !bytes) return program ? NVRTC_ERROR_INVALID_INPUT : NVRTC_ERROR_INVALID_PROGRAM;
    *bytes = text.size() + extra;
    return NVRTC_SUCCESS;
}

int give(const Program* program, const std::string& text, size_t extra, char* to) {
    if (!program || !to) return program ? NVRTC_ERROR_INVALID_INPUT : NVRTC_ERROR_INVALID_PROGRAM;
    memcpy(to, text.c_str(), text.size() + extra);
    return NVRTC_SUCCESS;
}

}  // namespace

API const char* nvrtcGetErrorString(int result) {
    switch (result) {
#define NAME(value) \
    case value: return #value;
        NAME(NVRTC_SUCCESS)
        NAME(NVRTC_ERROR_OUT_OF_MEMORY)
        NAME(NVRTC_ERROR_PROGRAM_CREATION_FAILURE)
        NAME(NVRTC_ERROR_INVALID_INPUT)
        NAME(NVRTC_ERROR_INVALID_PROGRAM)
        NAME(NVRTC_ERROR_INVALID_OPTION)
        NAME(NVRTC_ERROR_COMPILATION)
#undef NAME
        default: return "NVRTC_ERROR unknown";
    }
}

API int nvrtcVersion(int* major, int* minor) {
    if (!major || !minor) return NVRTC_ERROR_INVALID_INPUT;
    *major = 12;
    *minor = 6;
    return NVRTC_SUCCESS;
}

API int nvrtcGetNumSupportedArchs(int* count) {
    if (!count) return NVRTC_ERROR_INVALID_INPUT;
    *count = static_cast<int>(cusim::architectures().size());
    return NVRTC_SUCCESS;
}

API int nvrtcGetSupportedArchs(int* list) {
    if (!list) return NVRTC_ERROR_INVALID_INPUT;
    for (int architecture : cusim::architectures()) *list++ = architecture;
    return NVRTC_SUCCESS;
}

API int nvrtcCreateProgram(Program** made, const char* text, const char* name, int count, const char* const* headers,
        const char* const* includeNames) {
    if (!made || !text || count < 0 || (count > 0 && (!headers || !includeNames))) return NVRTC_ERROR_INVALID_INPUT;
    auto program = std::make_unique<Program>();
    program->source.name = name && *name ? name : "default_program";
    program->source.text = text;
    for (int i = 0; i < count; i++) program->source.headers[includeNames[i]] = headers[i];
    *made = program.release();
    return NVRTC_SUCCESS;
}

API int nvrtcDestroyProgram(Program** program) {
    if (!program || !*program) return NVRTC_ERROR_INVALID_PROGRAM;
    delete *program;
    *program = nullptr;
    return NVRTC_SUCCESS;
}

API int nvrtcCompileProgram(Program* program, int count, const char* const* words) {
    if (!program) return NVRTC_ERROR_INVALID_PROGRAM;
    cusim::Options options;
    std::vector<std::string> given(words, words + count);
    if (!cusim::parseOptions(given, &options, &program->log)) return NVRTC_ERROR_INVALID_OPTION;
    cusim::Compiled compiled = cusim::compile(program->source, options);
    program->log = compiled.log;
    if (!compiled.succeeded) return NVRTC_ERROR_COMPILATION;
    program->cubin = options.binary ? cusim::readFile(compiled.path) : "";
    program->ptx = "//CUSIM " + compiled.path + "\n";
    return NVRTC_SUCCESS;
}

// As with NVRTC, empty when the architecture was a compute_NN.
API int nvrtcGetCUBINSize(Program* program, size_t* bytes) {
    return giveSize(program, program ? program->cubin : "", 0, bytes);
}

API int nvrtcGetCUBIN(Program* program, char* cubin) {
    if (program && program->cubin.empty()) return NVRTC_ERROR_INVALID_INPUT;
    return give(program, program ? program->cubin : "", 0, cubin);
}

API int nvrtcGetPTXSize(Program* program, size_t* bytes) {
    return giveSize(program, program ? program->ptx : "", 1, bytes);
}

API int nvrtcGetPTX(Program* program, char* ptx) {
    return give(program, program ? program->ptx : "", 1, ptx);
}

API int nvrtcGetProgramLogSize(Program* program, size_t* bytes) {
    return giveSize(program, program ? program->log : "", 1, bytes);
}

API int nvrtcGetProgramLog(Program* program, char* log) {
    return give(program, program ? program->log : "", 1, log);
}
