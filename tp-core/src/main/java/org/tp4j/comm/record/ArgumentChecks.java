package org.tp4j.comm.record;

import java.util.Arrays;
import org.tp4j.comm.CommunicationException;
import org.tp4j.comm.ProcessGroup;
import org.tp4j.comm.ReduceOp;
import org.tp4j.tensor.NdArray;

/** What the arguments of one call must satisfy before any engine could carry it out. */
final class ArgumentChecks {
    private final CollectiveCall call;

    ArgumentChecks(CollectiveCall call) {
        this.call = call;
    }

    ArgumentChecks sameType(NdArray in, NdArray out) {
        if (in.dtype() != out.dtype()) {
            throw refused("in is of type " + in.dtype() + " and out of type " + out.dtype());
        }
        return this;
    }

    ArgumentChecks inHolds(NdArray in, long expected) {
        return holds("in", in, expected);
    }

    ArgumentChecks outHolds(NdArray out, long expected) {
        return holds("out", out, expected);
    }

    private ArgumentChecks holds(String name, NdArray array, long expected) {
        if (array.elements() != expected) {
            throw refused(name + " holds " + array.elements() + " elements, the call needs " + expected);
        }
        return this;
    }

    ArgumentChecks reducible(NdArray in, ReduceOp op) {
        if (op == ReduceOp.AVG && !in.dtype().isFloating()) {
            throw refused("an average exists for floating-point types only, not for " + in.dtype());
        }
        return this;
    }

    /** One count per rank, none negative. */
    ArgumentChecks counts(ProcessGroup group, long[] counts) {
        if (counts.length != group.size()) {
            throw refused("counts " + Arrays.toString(counts) + " has " + counts.length + " entries for the "
                    + group.size() + " ranks of group '" + group.name() + "'");
        }
        for (long count : counts) {
            if (count < 0) {
                throw refused("counts " + Arrays.toString(counts) + " contains a negative number");
            }
        }
        return this;
    }

    ArgumentChecks rankExists(ProcessGroup group) {
        int rank = call.root();
        if (rank < 0 || rank >= group.size()) {
            int inGroup = group.worldRanks().indexOf(rank);
            throw refused("group '" + group.name() + "' has ranks 0 to " + (group.size() - 1)
                    + "; HINT: rank arguments are ranks of the group"
                    + (inGroup < 0 ? "" : ": world rank " + rank + " is rank " + inGroup + " of it"));
        }
        return this;
    }

    /** Arrays may be the same elements (out {@code distance} elements into in) or disjoint, never partly overlapping. */
    ArgumentChecks inPlaceOrDisjoint(NdArray in, NdArray out, long distance) {
        if (overlap(in, out) && out.offset() - in.offset() != distance) {
            throw refused("in and out overlap without being the same elements; HINT: to work in place, let the smaller"
                    + " array be a window of the larger one at its own position; otherwise use another array");
        }
        return this;
    }

    static boolean overlap(NdArray a, NdArray b) {
        return a.storage() == b.storage()
                && a.elements() > 0
                && b.elements() > 0
                && a.offset() < b.offset() + b.elements()
                && b.offset() < a.offset() + a.elements();
    }

    CommunicationException refused(String why) {
        return new CommunicationException(call + " is refused: " + why);
    }
}
