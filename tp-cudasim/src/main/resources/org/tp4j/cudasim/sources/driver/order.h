// The order in which threads and blocks of a kernel get their turn.
#pragma once
#include <algorithm>
#include <cstdint>

namespace cusim {

// Set by CUSIM_ORDER and CUSIM_SEED. A kernel must not depend on it; one that
// lacks a barrier does.
enum class Order { FORWARD, REVERSE, SHUFFLE };

Order order();
uint64_t seed();

// A small generator (splitmix64): the same orders on every machine.
struct Random {
    uint64_t state;
    uint64_t next() {
        uint64_t z = state += 0x9E3779B97F4A7C15;
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
        z = (z ^ z >> 27) * 0x94D049BB133111EB;
        return z ^ z >> 31;
    }
    template <class T>
    void shuffle(T begin, T end) {
        for (auto n = end - begin; n > 1; n--) std::swap(begin[n - 1], begin[next() % n]);
    }
};

}  // namespace cusim
