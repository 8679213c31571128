#include "nvrtc/compiler.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <spawn.h>
#include <sstream>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include "nvrtc/rewriter.h"

extern "C" char** environ;

namespace cusim {

namespace fs = std::filesystem;

namespace {

fs::path ownFolder() {
    Dl_info info;
    dladdr(reinterpret_cast<void*>(&compile), &info);
    return fs::path(info.dli_fname).parent_path();
}

std::string hostCompiler() {
    const char* chosen = getenv("CUSIM_CXX");
    return chosen && *chosen ? chosen : "g++";
}

void writeFile(const fs::path& path, const std::string& text) {
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
}

// Runs a command with both outputs in one file; its exit status, 127 when it cannot be started.
int run(const std::vector<std::string>& command, const fs::path& output) {
    std::vector<char*> words;
    for (auto& word : command) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
    posix_spawn_file_actions_adddup2(&actions, 1, 2);
    pid_t child;
    int status = posix_spawnp(&child, words[0], &actions, nullptr, words.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (status != 0) return 127;
    while (waitpid(child, &status, 0) < 0) {
        if (errno != EINTR) return 127;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

// Two FNV-1a sums of 64 bits.
struct Digest {
    uint64_t a = 0xCBF29CE484222325, b = 0x84222325CBF29CE4;
    void add(const std::string& text) {
        for (unsigned char c : text + '\0') {
            a = (a ^ c) * 0x100000001B3;
            b = (b ^ c) * 0x100000001B3 + (b >> 29);
        }
    }
    std::string hex() const {
        char text[33];
        snprintf(text, sizeof text, "%016llx%016llx", static_cast<unsigned long long>(a),
                static_cast<unsigned long long>(b));
        return text;
    }
};

std::string compilerVersion() {
    fs::path output = fs::temp_directory_path() / ("cusim-version-" + std::to_string(getpid()));
    run({hostCompiler(), "--version"}, output);
    std::string version = readFile(output);
    fs::remove(output);
    return version;
}

std::string processor() {
    std::string features;
    if (__builtin_cpu_supports("fma")) features += "fma ";
    if (__builtin_cpu_supports("avx2")) features += "avx2 ";
    if (__builtin_cpu_supports("avx512f")) features += "avx512f ";
    return features;
}

std::string key(const Source& source, const Options& options) {
    static const std::string compiler = compilerVersion();
    Digest digest;
    digest.add(source.name);
    digest.add(source.text);
    for (auto& [name, text] : source.headers) {
        digest.add(name);
        digest.add(text);
    }
    digest.add(std::to_string(options.architecture) + options.standard + (options.contract ? "contract" : ""));
    for (auto& word : options.preprocessor) digest.add(word);
    for (const char* header : {"abi.h", "cusim.h", "cusim_math.h"}) digest.add(readFile(ownFolder() / "include" / header));
    digest.add(hostCompiler() + compiler + processor());
    return digest.hex();
}

// A folder of one compilation, gone at its end.
struct Workplace {
    explicit Workplace(const fs::path& cache) {
        static std::atomic<int> made{0};
        folder = cache / ("work-" + std::to_string(getpid()) + "-" + std::to_string(made++));
        fs::create_directories(folder);
    }
    ~Workplace() {
        std::error_code ignored;
        if (!getenv("CUSIM_KEEP")) fs::remove_all(folder, ignored);
    }
    fs::path folder;
};

// Held while one process compiles; the system lets go of it when the process dies.
struct FileLock {
    explicit FileLock(const fs::path& path) : file(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644)) {
        while (file >= 0 && flock(file, LOCK_EX) < 0 && errno == EINTR) {
        }
    }
    ~FileLock() {
        if (file >= 0) close(file);
    }
    int file;
};

Compiled build(const Source& source, const Options& options, const fs::path& cache, const fs::path& library) {
    Workplace work(cache);
    const fs::path& folder = work.folder;
    for (auto& [name, text] : source.headers) writeFile(folder / "headers" / name, text);
    writeFile(folder / "source.cu", "#line 1 \"" + source.name + "\"\n" + source.text + "\n");

    // Macros first, so that the rewriter sees every kernel.
    std::vector<std::string> command = {hostCompiler(), "-E", "-x", "c++", "-std=" + options.standard, "-DCUSIM",
            "-D__CUDACC__", "-D__CUDACC_RTC__", "-D__CUDA_ARCH__=" + std::to_string(options.architecture * 10),
            "-I" + (folder / "headers").string()};
    command.insert(command.end(), options.preprocessor.begin(), options.preprocessor.end());
    command.insert(command.end(), {(folder / "source.cu").string(), "-o", (folder / "expanded.cu").string()});
    int status = run(command, folder / "log");
    std::string log = readFile(folder / "log");
    if (status == 127) return {false, "", "cusim: no C++ compiler (" + hostCompiler() + ") to compile kernels with\n"};
    if (status != 0) return {false, "", log};

    std::string error;
    std::string host = rewrite(readFile(folder / "expanded.cu"), options.architecture, &error);
    if (!error.empty()) return {false, "", source.name + ": error: " + error + "\n"};
    writeFile(folder / "host.cpp", host);
    command = {hostCompiler(), "-x", "c++", "-std=" + options.standard, "-O2", "-march=native",
            options.contract ? "-ffp-contract=fast" : "-ffp-contract=off", "-fno-exceptions", "-fno-rtti", "-fPIC",
            "-shared", "-fvisibility=hidden", "-ftls-model=local-dynamic", "-w", "-Wno-unknown-pragmas",
            "-I" + (ownFolder() / "include").string(), (folder / "host.cpp").string(), "-o",
            (folder / "kernels.so").string()};
    status = run(command, folder / "log");
    log += readFile(folder / "log");
    if (status != 0) return {false, "", log};
    fs::rename(folder / "kernels.so", library);
    return {true, library, log};
}

}  // namespace

std::string readFile(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
}

Compiled compile(const Source& source, const Options& options) {
    try {
        const char* chosen = getenv("CUSIM_CACHE");
        fs::path cache = chosen && *chosen ? fs::path(chosen) : ownFolder() / "cache";
        fs::create_directories(cache);
        std::string name = key(source, options);
        fs::path library = cache / (name + ".so");
        if (fs::exists(library)) return {true, library, ""};
        FileLock lock(cache / (name + ".lock"));
        if (fs::exists(library)) return {true, library, ""};
        return build(source, options, cache, library);
    } catch (const fs::filesystem_error& error) {
        return {false, "", std::string("cusim: ") + error.what() + "\n"};
    }
}

}  // namespace cusim
