// Modules of compiled kernels and the functions in them.
#pragma once
#include "driver/block.h"
#include "driver/context.h"

namespace cusim {

struct Module {
    explicit Module(Context& owner) : context(owner) {}
    ~Module();

    Context& context;
    void* library = nullptr;
    int file = -1;  // that the library was loaded from
    KernelImage image;
    std::mutex running;  // one kernel of a module at a time
    std::vector<CUfunction> handles;
};

struct Function {
    std::shared_ptr<Module> module;
    const CusimKernel* kernel;
    std::string name;
    int maxDynamicShared;
};

Handles<Module, CUmodule>& modules();
Handles<Function, CUfunction>& functions();

}  // namespace cusim
