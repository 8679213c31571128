#include "driver/order.h"

#include <cstdlib>
#include <cstring>

#include "driver/core.h"

namespace cusim {

Order order() {
    static const Order chosen = [] {
        const char* text = getenv("CUSIM_ORDER");
        if (!text || !*text || !strcmp(text, "forward")) return Order::FORWARD;
        if (!strcmp(text, "reverse")) return Order::REVERSE;
        if (!strcmp(text, "shuffle")) return Order::SHUFFLE;
        say("CUSIM_ORDER is forward, reverse or shuffle, not %s: forward is taken", text);
        return Order::FORWARD;
    }();
    return chosen;
}

uint64_t seed() {
    static const uint64_t chosen = setting("CUSIM_SEED", 1);
    return chosen;
}

}  // namespace cusim
