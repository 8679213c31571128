package org.tp4j.layout;

import org.tp4j.comm.ReduceOp;

/**
 * How a tensor is placed along one mesh axis. It also determines the placement of the tensor's gradient, which makes a
 * forgotten all-reduce a type error (the split of <em>replicated</em> in two is that of the spmd_types library).
 *
 * <table>
 * <caption>The four placements</caption>
 * <tr><th>placement</th><th>each rank holds</th><th>its gradient is</th></tr>
 * <tr><td>{@link Replicate}</td><td>the whole value, about to be used differently on each rank</td><td>Partial</td></tr>
 * <tr><td>{@link Invariant}</td><td>the whole value, used identically on each rank</td><td>Invariant</td></tr>
 * <tr><td>{@link Shard}</td><td>its piece along a dimension</td><td>Shard</td></tr>
 * <tr><td>{@link Partial}</td><td>a term of a pending sum</td><td>Replicate</td></tr>
 * </table>
 */
public sealed interface Placement {
    /** The placement of the gradient of a tensor with this placement. */
    Placement dual();

    /** Whether every rank holds the whole value: {@link Replicate} or {@link Invariant}. */
    default boolean isWhole() {
        return false;
    }

    /** Whether this is a pending sum, the only pending reduction that gradients and operations pass. */
    default boolean isPartialSum() {
        return false;
    }

    /** The whole value on each rank, to be used differently on each. */
    static Placement replicate() {
        return Replicate.INSTANCE;
    }

    /** The whole value on each rank, used identically. */
    static Placement invariant() {
        return Invariant.INSTANCE;
    }

    /** Cut along {@code dim}; negative counts from the last dimension. */
    static Shard shard(int dim) {
        return new Shard(dim, 1);
    }

    /** A term of a pending sum on each rank. */
    static Partial partial() {
        return Partial.SUM;
    }

    /** The whole value, about to be used differently on each rank; its gradient is pending. */
    enum Replicate implements Placement {
        /** The instance. */
        INSTANCE;

        @Override
        public Placement dual() {
            return Partial.SUM;
        }

        @Override
        public boolean isWhole() {
            return true;
        }

        @Override
        public String toString() {
            return "Replicate";
        }
    }

    /** The whole value, used identically on each rank; its gradient is complete and the same on each. */
    enum Invariant implements Placement {
        /** The instance. */
        INSTANCE;

        @Override
        public Placement dual() {
            return this;
        }

        @Override
        public boolean isWhole() {
            return true;
        }

        @Override
        public String toString() {
            return "Invariant";
        }
    }

    /**
     * A contiguous piece along one dimension: of n elements in whole units of u, rank r of p holds those from min(n, r·c)
     * to min(n, (r+1)·c) with c = u·ceil(n/u/p), so that the last ranks may hold fewer or none.
     *
     * @param dim the dimension; negative until {@link Layout} has counted it from the front
     * @param unit elements that stay together, such as those of an attention head; at least 1
     */
    record Shard(int dim, long unit) implements Placement {
        /** Checks the unit. */
        public Shard {
            if (unit < 1) {
                throw new IllegalArgumentException("a shard's unit must be at least 1, was " + unit);
            }
        }

        @Override
        public Placement dual() {
            return this;
        }

        /** Where the piece of {@code rank} begins, of {@code n} elements cut for {@code ranks}. */
        public long begin(long n, int rank, int ranks) {
            long units = ceilDiv(n, unit);
            long chunk = ceilDiv(units, ranks);
            return chunk == 0 || rank >= ceilDiv(units, chunk) ? n : rank * chunk * unit; // below n, so no overflow
        }

        /** Elements in the piece of {@code rank}. */
        public long count(long n, int rank, int ranks) {
            return begin(n, rank + 1, ranks) - begin(n, rank, ranks);
        }

        /** Whether {@code other} cuts {@code n} elements for {@code ranks} at the same places, whatever the units. */
        public boolean cutsLike(Shard other, long n, int ranks) {
            for (int r = 1; r <= ranks; r++) {
                if (begin(n, r, ranks) != other.begin(n, r, ranks)) {
                    return false;
                }
            }
            return true;
        }

        private static long ceilDiv(long a, long b) {
            return a / b + (a % b == 0 ? 0 : 1);
        }

        @Override
        public String toString() {
            return unit == 1 ? "Shard(" + dim + ")" : "Shard(" + dim + ", unit " + unit + ")";
        }
    }

    /**
     * A term of a pending reduction. Only a pending sum passes operations and carries gradients; the others are
     * statistics that can only be redistributed.
     *
     * @param op the reduction that gives the value
     */
    record Partial(ReduceOp op) implements Placement {
        static final Partial SUM = new Partial(ReduceOp.SUM);

        @Override
        public Placement dual() {
            return Replicate.INSTANCE;
        }

        @Override
        public boolean isPartialSum() {
            return op == ReduceOp.SUM;
        }

        @Override
        public String toString() {
            return op == ReduceOp.SUM ? "Partial" : "Partial(" + op.name().toLowerCase(java.util.Locale.ROOT) + ")";
        }
    }
}
