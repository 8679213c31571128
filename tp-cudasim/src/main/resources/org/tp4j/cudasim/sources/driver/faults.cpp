// Bad addresses in the work of a device end its context, as on a GPU, and not the process. Every other fault goes on to
// the handler that was there before, which in a JVM means null pointer checks and stack banging.
#include <csetjmp>
#include <csignal>
#include <cstring>

#include "driver/stream.h"

namespace cusim {

namespace {

thread_local sigjmp_buf* landing = nullptr;
struct sigaction beforeSegv, beforeBus;

void onFault(int signal, siginfo_t* info, void* machine) {
    if (landing) {
        say("illegal address %p", info->si_addr);
        siglongjmp(*landing, 1);
    }
    struct sigaction& before = signal == SIGSEGV ? beforeSegv : beforeBus;
    if (before.sa_flags & SA_SIGINFO) {
        before.sa_sigaction(signal, info, machine);
    } else if (before.sa_handler == SIG_DFL || before.sa_handler == SIG_IGN) {
        sigaction(signal, &before, nullptr);  // the instruction faults again, now with the default effect
    } else {
        before.sa_handler(signal);
    }
}

}  // namespace

bool guarded(const std::function<void()>& work) {
    sigjmp_buf here;
    sigjmp_buf* outer = landing;
    if (sigsetjmp(here, 1)) {
        landing = outer;
        return false;
    }
    landing = &here;
    work();
    landing = outer;
    return true;
}

void unguarded(const std::function<void()>& work) {
    sigjmp_buf* outer = landing;
    landing = nullptr;
    work();
    landing = outer;
}

void installFaultHandler() {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = onFault;
    action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
    sigaction(SIGSEGV, &action, &beforeSegv);
    sigaction(SIGBUS, &action, &beforeBus);
}

}  // namespace cusim
