package org.tp4j.cpu.internal.memory;

import org.tp4j.tensor.Shape;

/**
 * A broadcast operation cut into runs: stretches of the output over which each operand is either read one element after
 * the other or stays at one element. Neighbouring dimensions that are read alike are merged first, so the runs are as
 * long as they can be.
 *
 * <pre>{@code
 * for (Runs runs = Runs.of(out, a, b); runs.more(); runs.next()) {
 *     // out[at ... at + length] from a[offset(0) ...] and b[offset(1) ...], moving if moves(0), moves(1)
 * }
 * }</pre>
 */
public final class Runs {
    private final int length;
    private final boolean[] moves;
    private final int[] offsets;
    private final long[] sizes;
    private final long[][] strides;
    private final long[] index;
    private int at;
    private final long end;

    private Runs(long elements, int length, boolean[] moves, long[] sizes, long[][] strides) {
        this.length = length;
        this.moves = moves;
        this.offsets = new int[moves.length];
        this.sizes = sizes;
        this.strides = strides;
        this.index = new long[sizes.length];
        this.end = elements;
    }

    /** The runs of {@code out}, to which the operands broadcast. */
    public static Runs of(Shape out, Shape... operands) {
        int dims = out.dims();
        int count = operands.length;
        long[] sizes = new long[dims];
        long[][] strides = new long[count][dims];
        long[][] full = new long[count][];
        for (int i = 0; i < count; i++) {
            full[i] = Odometer.broadcastStrides(operands[i], out);
        }
        int merged = 0; // sizes[0] is the innermost
        for (int d = dims - 1; d >= 0; d--) {
            long size = out.size(d);
            if (size == 1) {
                continue;
            }
            if (merged > 0 && continues(full, d, strides, merged - 1, sizes[merged - 1])) {
                sizes[merged - 1] *= size;
            } else {
                sizes[merged] = size;
                for (int i = 0; i < count; i++) {
                    strides[i][merged] = full[i][d];
                }
                merged++;
            }
        }
        boolean[] moves = new boolean[count];
        for (int i = 0; i < count; i++) {
            moves[i] = merged > 0 && strides[i][0] != 0;
        }
        int length = merged == 0 ? 1 : (int) Math.min(sizes[0], Integer.MAX_VALUE);
        return new Runs(out.elements(), length, moves, java.util.Arrays.copyOf(sizes, merged), strides);
    }

    private static boolean continues(long[][] full, int d, long[][] strides, int last, long size) {
        for (int i = 0; i < full.length; i++) {
            if (full[i][d] != strides[i][last] * size) {
                return false;
            }
        }
        return true;
    }

    /** Whether there is another run. */
    public boolean more() {
        return at < end;
    }

    /** First element of the output in this run. */
    public int at() {
        return at;
    }

    /** Elements in each run. */
    public int length() {
        return length;
    }

    /** First element of an operand in this run. */
    public int offset(int operand) {
        return offsets[operand];
    }

    /** Whether an operand moves along with the output, rather than staying at one element. */
    public boolean moves(int operand) {
        return moves[operand];
    }

    /** Moves to the next run. */
    public void next() {
        at += length;
        for (int d = 1; d < sizes.length; d++) {
            index[d]++;
            for (int i = 0; i < offsets.length; i++) {
                offsets[i] += (int) strides[i][d];
            }
            if (index[d] < sizes[d]) {
                return;
            }
            for (int i = 0; i < offsets.length; i++) {
                offsets[i] -= (int) (index[d] * strides[i][d]);
            }
            index[d] = 0;
        }
    }
}
