package org.tp4j.layout;

import org.tp4j.comm.ReduceOp;
import org.tp4j.layout.Placement.Partial;
import org.tp4j.layout.Placement.Shard;

/**
 * One row of the table of placement changes along one axis. Forward and backward are two entries of the same table:
 * the gradient of a change from a to b is the change from dual(b) to dual(a).
 *
 * <table>
 * <caption>The table</caption>
 * <tr><th>from → to</th><th>forward</th><th>backward</th></tr>
 * <tr><td>Invariant → Replicate</td><td>identity</td><td>all-reduce</td></tr>
 * <tr><td>Partial → Invariant</td><td>all-reduce</td><td>identity</td></tr>
 * <tr><td>Partial → Replicate</td><td>all-reduce</td><td>all-reduce</td></tr>
 * <tr><td>Shard → Replicate</td><td>all-gather</td><td>reduce-scatter</td></tr>
 * <tr><td>Shard → Invariant</td><td>all-gather</td><td>keep own slice</td></tr>
 * <tr><td>Invariant → Shard</td><td>keep own slice</td><td>all-gather</td></tr>
 * <tr><td>Replicate → Shard</td><td>keep own slice</td><td>zero-padded Partial</td></tr>
 * <tr><td>Partial → Shard</td><td>reduce-scatter</td><td>all-gather</td></tr>
 * <tr><td>Shard(i) → Shard(j)</td><td>all-to-all</td><td>all-to-all</td></tr>
 * <tr><td>Replicate → Partial</td><td>zero all but the first rank</td><td>the same</td></tr>
 * <tr><td>Replicate → Invariant</td><td>identity</td><td>zero all but the first rank</td></tr>
 * <tr><td>Invariant → Partial</td><td>zero all but the first rank</td><td>identity</td></tr>
 * <tr><td>Shard → Partial</td><td>zero-padded</td><td>keep own slice</td></tr>
 * </table>
 *
 * @param from placement before
 * @param to placement after
 * @param move what happens to the ranks' arrays
 */
public record Transition(Placement from, Placement to, Move move) {
    /** What happens to the ranks' arrays. */
    public enum Move {
        /** Nothing. */
        IDENTITY(false),
        /** The ranks' arrays are summed (or reduced otherwise). */
        ALL_REDUCE(true),
        /** The pieces are gathered on every rank. */
        ALL_GATHER(true),
        /** The ranks' arrays are summed, each rank keeping its piece. */
        REDUCE_SCATTER(true),
        /** Pieces along one dimension become pieces along another. */
        ALL_TO_ALL(true),
        /** Each rank keeps its piece of what it has. */
        SLICE(false),
        /** The first rank keeps its array, the others hold zeros. */
        ZERO_ALL_BUT_FIRST(false),
        /** Each rank's piece is padded with zeros to the whole shape. */
        ZERO_PAD(false);

        private final boolean communicates;

        Move(boolean communicates) {
            this.communicates = communicates;
        }

        /** Whether ranks exchange data. */
        public boolean communicates() {
            return communicates;
        }
    }

    /**
     * The row for a change.
     *
     * @throws LayoutException if there is none: to or from a pending reduction other than a sum, except into whole values
     *     or shards
     */
    public static Transition of(Placement from, Placement to) {
        return new Transition(from, to, move(from, to));
    }

    private static Move move(Placement from, Placement to) {
        if (from.equals(to)) {
            return Move.IDENTITY;
        }
        if (from instanceof Partial) {
            if (to.isWhole()) {
                return Move.ALL_REDUCE;
            }
            if (to instanceof Shard) {
                return Move.REDUCE_SCATTER;
            }
        } else if (from instanceof Shard) {
            if (to.isWhole()) {
                return Move.ALL_GATHER;
            }
            return to instanceof Shard ? Move.ALL_TO_ALL : zeros(from, to, Move.ZERO_PAD);
        } else {
            if (to.isWhole()) {
                return Move.IDENTITY;
            }
            return to instanceof Shard ? Move.SLICE : zeros(from, to, Move.ZERO_ALL_BUT_FIRST);
        }
        throw refused(from, to);
    }

    private static Move zeros(Placement from, Placement to, Move move) {
        if (to instanceof Partial p && p.op() == ReduceOp.SUM) {
            return move;
        }
        throw refused(from, to);
    }

    private static LayoutException refused(Placement from, Placement to) {
        return new LayoutException(
                "redistribute",
                "redistribute: there is no change from " + from + " to " + to + "; HINT: a pending " + from
                        + " can become Replicate, Invariant or Shard; only sums can be made pending");
    }

    /** The row that carries the gradient back. */
    public Transition backward() {
        return of(to.dual(), from.dual());
    }

    /** Whether a gradient can pass: statistics (pending reductions other than sums) carry none. */
    public boolean carriesGradient() {
        return !(from instanceof Partial p) || p.op() == ReduceOp.SUM;
    }
}
