// Simulated NCCL: the segment that the ranks of a communicator share, meeting in it and waiting in it.
#include <dirent.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "nccl/simnccl.h"

namespace simnccl {
namespace {

std::mutex errorMutex;
std::string lastOfAny;
thread_local std::string lastOfThread;

long futex(std::atomic<uint32_t>& word, int operation, uint32_t value, const timespec* timeout) {
    return syscall(SYS_futex, reinterpret_cast<uint32_t*>(&word), operation, value, timeout, nullptr, 0);
}

bool alive(int pid) { return pid <= 0 || kill(pid, 0) == 0 || errno != ESRCH; }

}  // namespace

bool reports() {
    const char* set = getenv("CUSIM_NCCL_REPORT");
    return set && !strcmp(set, "1");
}

int fail(int result, const char* format, ...) {
    char text[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fprintf(stderr, "[cudasim] NCCL: %s\n", text);
    std::lock_guard<std::mutex> lock(errorMutex);
    lastOfThread = lastOfAny = text;
    return result;
}

std::string lastError() {
    std::lock_guard<std::mutex> lock(errorMutex);
    return lastOfThread.empty() ? lastOfAny : lastOfThread;
}

int waiting(Communicator* c, const char* what) {
    if (c->aborting || (c->parent && c->parent->aborting)) return INTERNAL_ERROR;
    if (!reports()) return SUCCESS;
    if (int error = c->segment->error) return error;
    for (int r = 0; r < c->ranks; r++) {
        if (!alive(c->segment->pid[r])) {
            fail(REMOTE_ERROR, "rank %d: rank %d has died during %s", c->rank, r, what);
            return c->segment->error = REMOTE_ERROR;
        }
    }
    if (c->segment->aborted) {
        fail(REMOTE_ERROR, "rank %d: another rank has aborted during %s", c->rank, what);
        return c->segment->error = REMOTE_ERROR;
    }
    return SUCCESS;
}

int hang(Communicator* c, int result, const char* what) {
    if (reports()) return c->segment->error = result;
    for (;;) {
        if (int error = waiting(c, what)) return error;
        usleep(1000);
    }
}

int meet(Communicator* c, Barrier& barrier, const char* what) {
    uint32_t generation = barrier.generation;
    if (barrier.count.fetch_add(1) + 1 == uint32_t(c->ranks)) {
        barrier.count = 0;
        barrier.generation++;
        futex(barrier.generation, FUTEX_WAKE, INT_MAX, nullptr);
    } else {
        timespec poll{0, 10'000'000};
        while (barrier.generation == generation) {
            futex(barrier.generation, FUTEX_WAIT, generation, &poll);
            if (barrier.generation != generation) break;
            if (int error = waiting(c, what)) return error;
        }
    }
    // A rank that aborted had perhaps been counted: what it should have done will not be done.
    return c->segment->aborted ? hang(c, REMOTE_ERROR, what) : SUCCESS;
}

int attach(Communicator* c) {
    c->bytes = sizeof(Segment) + sizeof(Mail) * c->ranks * c->ranks + SLOT_BYTES * c->ranks;
    int fd = shm_open(c->name.c_str(), O_RDWR | O_CREAT, 0600);
    if (fd < 0 || ftruncate(fd, off_t(c->bytes))) {
        int error = errno;
        if (fd >= 0) close(fd);
        return fail(SYSTEM_ERROR, "shared memory %s: %s", c->name.c_str(), strerror(error));
    }
    void* memory = mmap(nullptr, c->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (memory == MAP_FAILED) return fail(SYSTEM_ERROR, "mmap: %s", strerror(errno));
    Segment* segment = c->segment = static_cast<Segment*>(memory);
    segment->pid[c->rank] = getpid();
    segment->ranks[c->rank] = c->ranks;
    segment->device[c->rank] = c->device;
    if (int error = meet(c, segment->control, "ncclCommInitRank")) return error;
    if (c->rank == 0) shm_unlink(c->name.c_str());  // nothing stays behind when a process dies later
    for (int a = 0; a < c->ranks; a++) {
        if (segment->ranks[a] != c->ranks) return hang(c, INVALID_USAGE, "ncclCommInitRank");
        for (int b = 0; b < a; b++) {
            if (segment->device[a] == segment->device[b]) {
                return fail(INVALID_USAGE, "Duplicate GPU detected : rank %d and rank %d both on CUDA device %d", b, a,
                            segment->device[a]);
            }
        }
    }
    return meet(c, segment->control, "ncclCommInitRank");
}

void detach(Communicator* c) {
    if (c->segment) munmap(c->segment, c->bytes);
    c->segment = nullptr;
}

void sweep() {
    DIR* folder = opendir("/dev/shm");
    if (!folder) return;
    while (dirent* entry = readdir(folder)) {
        int pid = 0;
        if (sscanf(entry->d_name, "cusim-nccl-%d-", &pid) == 1 && !alive(pid)) {
            shm_unlink((std::string("/") + entry->d_name).c_str());
        }
    }
    closedir(folder);
}

}  // namespace simnccl
