package org.tp4j.cpu.internal.kernels;

import org.tp4j.cpu.internal.memory.ArrayPool;
import org.tp4j.cpu.internal.memory.FloatView;
import org.tp4j.cpu.internal.scalar.FloatKernels;
import org.tp4j.tensor.Activation;
import org.tp4j.tensor.BinaryFunction;
import org.tp4j.tensor.NdArray;

/**
 * The middle of an MLP in one pass over memory: a piece at a time goes through the loops of {@link FloatKernels} while it
 * is in the cache.
 */
final class FusedActivations {
    private static final int PIECE = FloatView.PIECE;

    private final FloatKernels floats;
    private final ArrayPool pool;

    FusedActivations(FloatKernels floats, ArrayPool pool) {
        this.floats = floats;
        this.pool = pool;
    }

    /** The number of elements of a piece that consists of whole rows of n, where rows are short. */
    private static int pieceFor(int n) {
        return n <= PIECE ? PIECE - PIECE % Math.max(1, n) : PIECE;
    }

    /** z = x + bias for elements first to first + length of x, whose rows have n elements. */
    private void addBias(
            float[] x, int xAt, float[] bias, int biasAt, int n, int first, float[] z, int zAt, int length) {
        int done = 0;
        int column = first % n;
        while (done < length) {
            int run = Math.min(n - column, length - done);
            floats.binary(BinaryFunction.ADD, x, xAt + done, bias, biasAt + column, z, zAt + done, run);
            done += run;
            column = 0;
        }
    }

    /** The bias as floats, and where it begins; in scratch of {@code pool} unless it is direct. */
    private float[] biasFloats(FloatView view, int n) {
        return view.isDirect() ? view.target(NOTHING) : view.read(0, n, pool.takeFloats(n));
    }

    private static final float[] NOTHING = {};

    void biasActivation(Activation activation, NdArray x, NdArray bias, NdArray out) {
        int total = (int) x.elements();
        int n = (int) bias.elements();
        FloatView from = new FloatView(floats, x);
        FloatView shift = new FloatView(floats, bias);
        FloatView to = new FloatView(floats, out);
        float[] scratch = pool.takeFloats(PIECE);
        float[] terms = biasFloats(shift, n);
        int piece = pieceFor(n);
        for (int i = 0; i < total; i += piece) {
            int length = Math.min(piece, total - i);
            float[] target = to.target(scratch);
            int at = to.at(i);
            addBias(from.read(i, length, scratch), from.at(i), terms, shift.at(0), n, i, target, at, length);
            floats.unary(activation.forward(), target, at, target, at, length, 0, 0);
            to.write(i, length, target);
        }
        if (!shift.isDirect()) {
            pool.giveFloats(terms);
        }
        pool.giveFloats(scratch);
    }

    void biasActivationGrad(Activation activation, NdArray x, NdArray bias, NdArray dy, NdArray dx) {
        int total = (int) x.elements();
        int n = (int) bias.elements();
        FloatView from = new FloatView(floats, x);
        FloatView shift = new FloatView(floats, bias);
        FloatView upstream = new FloatView(floats, dy);
        FloatView to = new FloatView(floats, dx);
        float[] z = pool.takeFloats(PIECE);
        float[] other = pool.takeFloats(PIECE);
        float[] terms = biasFloats(shift, n);
        int piece = pieceFor(n);
        for (int i = 0; i < total; i += piece) {
            int length = Math.min(piece, total - i);
            addBias(from.read(i, length, z), from.at(i), terms, shift.at(0), n, i, z, 0, length);
            float[] d = upstream.read(i, length, other);
            float[] target = to.target(other);
            floats.binary(activation.gradient(), z, 0, d, upstream.at(i), target, to.at(i), length);
            to.write(i, length, target);
        }
        if (!shift.isDirect()) {
            pool.giveFloats(terms);
        }
        pool.giveFloats(other);
        pool.giveFloats(z);
    }

    void gated(Activation activation, NdArray gate, NdArray up, NdArray out) {
        int total = (int) gate.elements();
        FloatView gates = new FloatView(floats, gate);
        FloatView ups = new FloatView(floats, up);
        FloatView to = new FloatView(floats, out);
        float[] active = pool.takeFloats(PIECE);
        float[] other = pool.takeFloats(PIECE);
        for (int i = 0; i < total; i += PIECE) {
            int length = Math.min(PIECE, total - i);
            float[] g = gates.read(i, length, active);
            floats.unary(activation.forward(), g, gates.at(i), active, 0, length, 0, 0);
            float[] u = ups.read(i, length, other);
            float[] target = to.target(other);
            floats.binary(BinaryFunction.MUL, active, 0, u, ups.at(i), target, to.at(i), length);
            to.write(i, length, target);
        }
        pool.giveFloats(other);
        pool.giveFloats(active);
    }

    void gatedGrad(Activation activation, NdArray gate, NdArray up, NdArray dy, NdArray dGate, NdArray dUp) {
        int total = (int) gate.elements();
        FloatView gates = new FloatView(floats, gate);
        FloatView ups = new FloatView(floats, up);
        FloatView upstream = new FloatView(floats, dy);
        FloatView toGate = new FloatView(floats, dGate);
        FloatView toUp = new FloatView(floats, dUp);
        float[] value = pool.takeFloats(PIECE);
        float[] slope = pool.takeFloats(PIECE);
        float[] scratch = pool.takeFloats(PIECE);
        float[] other = pool.takeFloats(PIECE);
        for (int i = 0; i < total; i += PIECE) {
            int length = Math.min(PIECE, total - i);
            float[] g = gates.read(i, length, scratch);
            floats.activate(activation, g, gates.at(i), value, 0, slope, 0, length);
            float[] u = ups.read(i, length, scratch);
            floats.binary(BinaryFunction.MUL, slope, 0, u, ups.at(i), slope, 0, length);
            float[] d = upstream.read(i, length, other);
            int dAt = upstream.at(i);
            // both products before either result is stored: a result may lie where dy does
            floats.binary(BinaryFunction.MUL, slope, 0, d, dAt, slope, 0, length);
            floats.binary(BinaryFunction.MUL, value, 0, d, dAt, value, 0, length);
            store(toGate, i, slope, length);
            store(toUp, i, value, length);
        }
        pool.giveFloats(other);
        pool.giveFloats(scratch);
        pool.giveFloats(slope);
        pool.giveFloats(value);
    }

    private static void store(FloatView to, int first, float[] piece, int length) {
        if (to.isDirect()) {
            System.arraycopy(piece, 0, to.target(piece), to.at(first), length);
        } else {
            to.write(first, length, piece);
        }
    }
}
