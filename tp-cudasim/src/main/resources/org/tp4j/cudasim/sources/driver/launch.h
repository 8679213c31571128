// Modules of compiled kernels and the functions in them.
#pragma once
#include "driver/block.h"
#include "driver/context.h"

namespace cusim {

// One loaded copy of a module's library. Its built-in variables are plain globals, so it runs one kernel at a time.
struct Copy {
    Copy() = default;
    Copy(const Copy&) = delete;
    ~Copy();

    const CusimKernel* kernel(const std::string& name) const;

    void* library = nullptr;
    int file = -1;  // that the library was loaded from
    KernelImage image;
};

// Kernels of one module run at the same time on several streams: each takes a copy that is idle, or loads another.
class Module {
public:
    Module(Context& owner, std::string itsBytes) : context(owner), bytes(std::move(itsBytes)) {}

    // Loads the first copy.
    CUresult load();
    // The first copy, for what is the same in all.
    const Copy& any() const { return *first_; }
    std::shared_ptr<Copy> take();
    void giveBack(std::shared_ptr<Copy> copy);

    Context& context;
    std::vector<CUfunction> handles;  // of its functions, guarded by the context's mutex

private:
    CUresult loadCopy(std::shared_ptr<Copy>* made);

    const std::string bytes;  // of the library
    std::shared_ptr<Copy> first_;
    std::mutex mutex_;
    std::vector<std::shared_ptr<Copy>> idle_;
};

struct Function {
    std::shared_ptr<Module> module;
    const CusimKernel* kernel;  // in the first copy
    std::string name;
    int maxDynamicShared;
};

Handles<Module, CUmodule>& modules();
Handles<Function, CUfunction>& functions();

}  // namespace cusim
