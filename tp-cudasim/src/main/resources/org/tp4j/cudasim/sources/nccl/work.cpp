// Simulated NCCL: moving and joining values. All ranks join in the order of the ranks, so results are equal bit for bit;
// 16-bit floats are joined in 32 bits and rounded once, and an average is the sum divided (NCCL rounds on the way, and
// multiplies by the reciprocal).
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "nccl/simnccl.h"

namespace simnccl {

size_t typeBytes(int type) {
    static const size_t bytes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2};
    return bytes[type];
}

const char* kindName(int kind) {
    static const char* names[] = {"AllReduce", "AllGather", "ReduceScatter", "Broadcast", "Reduce", "AlltoAll", "Send", "Recv"};
    return names[kind];
}

namespace {

struct Bfloat16 {
    uint16_t bits;
    operator float() const {
        uint32_t wide = uint32_t(bits) << 16;
        float value;
        memcpy(&value, &wide, sizeof value);
        return value;
    }
    explicit Bfloat16(float value) {
        uint32_t wide;
        memcpy(&wide, &value, sizeof wide);
        bool nan = (wide & 0x7fffffff) > 0x7f800000;
        bits = nan ? uint16_t((wide >> 16) | 0x40) : uint16_t((wide + 0x7fff + ((wide >> 16) & 1)) >> 16);
    }
};

template <class T, class Wide>
void join(Communicator* c, size_t offset, size_t n, int op, void* out) {
    std::vector<const T*> in;
    for (int r = 0; r < c->ranks; r++) in.push_back(reinterpret_cast<const T*>(c->slot(r) + offset));
    T* result = static_cast<T*>(out);
    for (size_t i = 0; i < n; i++) {
        Wide a = Wide(in[0][i]);
        for (int r = 1; r < c->ranks; r++) {
            Wide b = Wide(in[r][i]);
            switch (op) {
                case PROD: a = Wide(a * b); break;
                case MAX: a = b > a || a != a ? b : a; break;  // as fmax: a NaN only if all are
                case MIN: a = b < a || a != a ? b : a; break;
                default: a = Wide(a + b);
            }
        }
        result[i] = T(op == AVG ? Wide(a / Wide(c->ranks)) : a);
    }
}

// Of the values in all ranks' slots. Signed types are joined as unsigned where they wrap, which gives the same bits.
void join(Communicator* c, int type, size_t offset, size_t n, int op, void* out) {
    bool wraps = op == SUM || op == PROD;
    switch (type) {
        case INT8: return wraps ? join<uint8_t, uint8_t>(c, offset, n, op, out) : join<int8_t, int8_t>(c, offset, n, op, out);
        case UINT8: return join<uint8_t, uint8_t>(c, offset, n, op, out);
        case INT32: return wraps ? join<uint32_t, uint32_t>(c, offset, n, op, out) : join<int32_t, int32_t>(c, offset, n, op, out);
        case UINT32: return join<uint32_t, uint32_t>(c, offset, n, op, out);
        case INT64: return wraps ? join<uint64_t, uint64_t>(c, offset, n, op, out) : join<int64_t, int64_t>(c, offset, n, op, out);
        case UINT64: return join<uint64_t, uint64_t>(c, offset, n, op, out);
        case FLOAT16: return join<_Float16, float>(c, offset, n, op, out);
        case FLOAT32: return join<float, float>(c, offset, n, op, out);
        case FLOAT64: return join<double, double>(c, offset, n, op, out);
        default: return join<Bfloat16, float>(c, offset, n, op, out);
    }
}

bool agree(const Description& a, const Description& b) {
    return a.kind == b.kind && a.type == b.type && a.op == b.op && a.root == b.root && a.count == b.count;
}

// Compares the calls of all ranks; they stay in the segment until the ranks have met once more.
int compare(Communicator* c) {
    Segment* s = c->segment;
    for (int r = 1; r < c->ranks; r++) {
        const Description &a = s->calls[0], &b = s->calls[r];
        if (agree(a, b)) continue;
        if (!reports()) return hang(c, INVALID_USAGE, kindName(a.kind));
        fail(INVALID_USAGE, "ranks 0 and %d disagree: %s(count %zu, type %d, op %d, root %d) and %s(count %zu, type %d, op %d, root %d)",
             r, kindName(a.kind), a.count, a.type, a.op, a.root, kindName(b.kind), b.count, b.type, b.op, b.root);
        return s->error = INVALID_USAGE;
    }
    return SUCCESS;
}

// This rank's values of elements offset to offset + n go into its slot; runs for several ranks lie `stride` bytes apart.
void bring(Communicator* c, const Op& op, size_t offset, size_t n, size_t stride) {
    size_t width = typeBytes(op.type);
    const char* in = static_cast<const char*>(op.send);
    char* slot = c->slot(c->rank);
    if (op.kind == BROADCAST && op.peer != c->rank) return;
    if (op.kind == REDUCE_SCATTER || op.kind == ALL_TO_ALL) {
        for (int to = 0; to < c->ranks; to++) memcpy(slot + to * stride, in + (to * op.count + offset) * width, n * width);
    } else {
        memcpy(slot, in + offset * width, n * width);
    }
}

// The result of elements offset to offset + n out of the ranks' slots.
void take(Communicator* c, const Op& op, size_t offset, size_t n, size_t stride) {
    size_t width = typeBytes(op.type);
    char* out = static_cast<char*>(op.recv) + offset * width;
    switch (op.kind) {
        case ALL_REDUCE: return join(c, op.type, 0, n, op.op, out);
        case REDUCE:
            if (op.peer == c->rank) join(c, op.type, 0, n, op.op, out);
            return;
        case REDUCE_SCATTER: return join(c, op.type, c->rank * stride, n, op.op, out);
        case BROADCAST: memcpy(out, c->slot(op.peer), n * width); return;
        default:
            for (int from = 0; from < c->ranks; from++) {
                size_t place = op.kind == ALL_TO_ALL ? c->rank * stride : 0;
                memcpy(out + from * op.count * width, c->slot(from) + place, n * width);
            }
    }
}

}  // namespace

int collective(Communicator* c, const Op& op) {
    if (op.count == 0) return SUCCESS;  // as NCCL: ranks do not even meet
    const char* name = kindName(op.kind);
    c->segment->calls[c->rank] = {op.kind, op.type, op.op, op.peer, op.count};
    if (int error = meet(c, c->segment->data, name)) return error;
    if (int error = compare(c)) return error;
    if (int error = meet(c, c->segment->data, name)) return error;
    bool runs = op.kind == REDUCE_SCATTER || op.kind == ALL_TO_ALL;
    size_t step = SLOT_BYTES / typeBytes(op.type) / (runs ? c->ranks : 1);
    for (size_t offset = 0; offset < op.count; offset += step) {
        size_t n = std::min(step, op.count - offset), stride = step * typeBytes(op.type);
        bring(c, op, offset, n, stride);
        if (int error = meet(c, c->segment->data, name)) return error;
        take(c, op, offset, n, stride);
        if (int error = meet(c, c->segment->data, name)) return error;
    }
    return SUCCESS;
}

int messages(Communicator* c, const std::vector<Op>& ops) {
    std::vector<size_t> moved(ops.size(), 0);
    std::vector<bool> over(ops.size(), false);
    size_t left = ops.size();
    for (size_t i = 0; i < ops.size(); i++) {
        if (ops[i].count == 0) over[i] = true, left--;
    }
    while (left > 0) {
        bool progress = false;
        bool busy[2][MAX_RANKS] = {};  // messages between two ranks go in order, one at a time
        for (size_t i = 0; i < ops.size(); i++) {
            const Op& op = ops[i];
            bool sends = op.kind == SEND;
            if (over[i] || busy[sends][op.peer]) continue;
            busy[sends][op.peer] = true;
            size_t total = op.count * typeBytes(op.type);
            Mail* mail = sends ? c->mail(c->rank, op.peer) : c->mail(op.peer, c->rank);
            if (sends == (mail->full != 0)) continue;  // not read yet, or not there yet
            if (sends && moved[i] == total) {  // a send is over when it has been received: NCCL promises no buffers
                over[i] = true, left--;
                progress = true;
                continue;
            }
            if (sends) {
                mail->bytes = uint32_t(std::min(MAIL_BYTES, total - moved[i]));
                mail->total = total;
                memcpy(mail->data, static_cast<const char*>(op.send) + moved[i], mail->bytes);
            } else if (mail->total != total) {
                if (reports()) {
                    fail(INVALID_USAGE, "rank %d receives %zu bytes where rank %d sends %zu", c->rank, total, op.peer, mail->total);
                }
                return hang(c, INVALID_USAGE, "Recv");
            } else {
                memcpy(static_cast<char*>(op.recv) + moved[i], mail->data, mail->bytes);
            }
            moved[i] += mail->bytes;
            mail->full = sends ? 1 : 0;
            progress = true;
            if (!sends && moved[i] == total) over[i] = true, left--;
        }
        if (!progress) {
            if (int error = waiting(c, "Send/Recv")) return error;
            usleep(50);
        }
    }
    return SUCCESS;
}

}  // namespace simnccl
