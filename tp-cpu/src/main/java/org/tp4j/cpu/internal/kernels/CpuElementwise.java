package org.tp4j.cpu.internal.kernels;

import java.util.Arrays;
import org.tp4j.cpu.internal.memory.ArrayKind;
import org.tp4j.cpu.internal.memory.ArrayPool;
import org.tp4j.cpu.internal.memory.FloatView;
import org.tp4j.cpu.internal.memory.HostStorage;
import org.tp4j.cpu.internal.memory.Runs;
import org.tp4j.cpu.internal.memory.StridedCopy;
import org.tp4j.cpu.internal.reference.ReferenceElementwise;
import org.tp4j.cpu.internal.scalar.FloatKernels;
import org.tp4j.tensor.Activation;
import org.tp4j.tensor.BinaryFunction;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.ElementwiseKernels;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.UnaryFunction;

/**
 * Elementwise kernels by {@link FloatKernels} for 32- and 16-bit floats, by {@link DoubleElementwise} for 64-bit ones; the
 * other types use the reference.
 *
 * <p>A broadcast operand that stays at one element over a {@linkplain Runs run} is first repeated over a piece of
 * scratch, so that every loop has only the form out[i] = f(a[i], b[i]).
 */
public final class CpuElementwise implements ElementwiseKernels {
    private static final int PIECE = FloatView.PIECE;

    private final FloatKernels floats;
    private final ArrayPool pool;
    private final ReferenceElementwise reference = new ReferenceElementwise();

    public CpuElementwise(FloatKernels floats, ArrayPool pool) {
        this.floats = floats;
        this.pool = pool;
    }

    private static float[] floatsOf(NdArray array) {
        return ((HostStorage) array.storage()).floats();
    }

    @Override
    public void unary(UnaryFunction function, NdArray x, NdArray out, double a, double b) {
        int n = (int) x.elements();
        if (x.dtype() == DType.FLOAT32) {
            floats.unary(
                    function, floatsOf(x), (int) x.offset(), floatsOf(out), (int) out.offset(), n, (float) a, (float)
                            b);
        } else if (x.dtype().isHalf()) {
            FloatView from = new FloatView(floats, x);
            FloatView to = new FloatView(floats, out);
            float[] scratch = pool.takeFloats(PIECE);
            for (int i = 0; i < n; i += PIECE) {
                int length = Math.min(PIECE, n - i);
                floats.unary(function, from.read(i, length, scratch), 0, scratch, 0, length, (float) a, (float) b);
                to.write(i, length, scratch);
            }
            pool.giveFloats(scratch);
        } else if (x.dtype() == DType.FLOAT64) {
            DoubleElementwise.unary(function, x, out, a, b);
        } else {
            reference.unary(function, x, out, a, b);
        }
    }

    @Override
    public void binary(BinaryFunction function, NdArray a, NdArray b, NdArray out) {
        if (a.dtype() == DType.FLOAT64 && !function.givesBool()) {
            DoubleElementwise.binary(function, a, b, out);
            return;
        }
        if (!FloatView.suits(a.dtype()) || function.givesBool() && !isPlainComparison(a, b, out)) {
            reference.binary(function, a, b, out);
            return;
        }
        Shape shape = out.shape();
        boolean same = a.shape().equals(shape) && b.shape().equals(shape);
        if (function.givesBool()) {
            Comparisons.compare(
                    function,
                    floatsOf(a),
                    (int) a.offset(),
                    a.elements() == 1 ? 0 : 1,
                    floatsOf(b),
                    (int) b.offset(),
                    b.elements() == 1 ? 0 : 1,
                    ((HostStorage) out.storage()).booleans(),
                    (int) out.offset(),
                    (int) shape.elements());
        } else if (same && a.dtype() == DType.FLOAT32) {
            floats.binary(
                    function,
                    floatsOf(a),
                    (int) a.offset(),
                    floatsOf(b),
                    (int) b.offset(),
                    floatsOf(out),
                    (int) out.offset(),
                    (int) shape.elements());
        } else if (same) {
            FloatView left = new FloatView(floats, a);
            FloatView right = new FloatView(floats, b);
            FloatView to = new FloatView(floats, out);
            float[] scratch = pool.takeFloats(PIECE);
            float[] other = pool.takeFloats(PIECE);
            run(function, left, 0, true, right, 0, true, to, 0, (int) shape.elements(), scratch, other);
            pool.giveFloats(other);
            pool.giveFloats(scratch);
        } else {
            broadcast(function, a, b, out);
        }
    }

    /** Comparisons of floats of one shape, or with one number. */
    private static boolean isPlainComparison(NdArray a, NdArray b, NdArray out) {
        long n = out.elements();
        return a.dtype() == DType.FLOAT32
                && (a.elements() == n || a.elements() == 1)
                && (b.elements() == n || b.elements() == 1);
    }

    private void broadcast(BinaryFunction function, NdArray a, NdArray b, NdArray out) {
        FloatView left = new FloatView(floats, a);
        FloatView right = new FloatView(floats, b);
        FloatView to = new FloatView(floats, out);
        float[] scratch = pool.takeFloats(PIECE);
        float[] other = pool.takeFloats(PIECE);
        boolean aWhole = a.elements() == out.elements();
        if (aWhole && isRow(b.shape(), out.shape())) {
            rows(function, left, right, (int) b.elements(), to, (int) out.elements(), scratch, other);
            pool.giveFloats(other);
            pool.giveFloats(scratch);
            return;
        }
        for (Runs runs = Runs.of(out.shape(), a.shape(), b.shape()); runs.more(); runs.next()) {
            run(
                    function,
                    left,
                    runs.offset(0),
                    runs.moves(0),
                    right,
                    runs.offset(1),
                    runs.moves(1),
                    to,
                    runs.at(),
                    runs.length(),
                    scratch,
                    other);
        }
        pool.giveFloats(other);
        pool.giveFloats(scratch);
    }

    /** Whether an operand consists of the output's last dimensions, at most a piece of them, as a bias does. */
    private static boolean isRow(Shape operand, Shape out) {
        if (operand.elements() > PIECE || operand.dims() > out.dims()) {
            return false;
        }
        long n = 1;
        for (int d = -1; n < operand.elements(); d--) {
            if (operand.size(d) != out.size(d)) {
                return false;
            }
            n *= operand.size(d);
        }
        return n > 1;
    }

    /** out = function(a, b) with rows of n numbers b: short rows are repeated, so that a piece holds many. */
    private void rows(
            BinaryFunction function,
            FloatView a,
            FloatView b,
            int n,
            FloatView out,
            int total,
            float[] scratch,
            float[] other) {
        int piece = PIECE - PIECE % n;
        float[] row = b.read(0, n, other);
        int rowAt = b.at(0);
        if (b.isDirect() && piece > n) {
            System.arraycopy(row, rowAt, other, 0, n);
            row = other;
            rowAt = 0;
        }
        int filled = Math.min(piece, total);
        for (int done = n; done < filled; done *= 2) {
            System.arraycopy(other, 0, other, done, Math.min(done, filled - done));
        }
        for (int i = 0; i < total; i += piece) {
            int length = Math.min(piece, total - i);
            float[] target = out.target(scratch);
            floats.binary(function, a.read(i, length, scratch), a.at(i), row, rowAt, target, out.at(i), length);
            out.write(i, length, target);
        }
    }

    /** One run; scratch is used for what is widened or repeated. */
    private void run(
            BinaryFunction function,
            FloatView a,
            int aAt,
            boolean aMoves,
            FloatView b,
            int bAt,
            boolean bMoves,
            FloatView out,
            int outAt,
            int n,
            float[] scratch,
            float[] other) {
        boolean direct = a.isDirect() && aMoves && b.isDirect() && bMoves;
        int piece = direct ? n : PIECE;
        if (!aMoves) {
            Arrays.fill(scratch, 0, Math.min(n, PIECE), a.get(aAt));
        }
        if (!bMoves) {
            Arrays.fill(other, 0, Math.min(n, PIECE), b.get(bAt));
        }
        for (int i = 0; i < n; i += piece) {
            int length = Math.min(piece, n - i);
            float[] left = aMoves ? a.read(aAt + i, length, scratch) : scratch;
            float[] right = bMoves ? b.read(bAt + i, length, other) : other;
            // scratch that repeats a number is needed again; what was widened is not
            float[] target = out.target(aMoves ? scratch : other);
            floats.binary(
                    function,
                    left,
                    aMoves ? a.at(aAt + i) : 0,
                    right,
                    bMoves ? b.at(bAt + i) : 0,
                    target,
                    out.at(outAt + i),
                    length);
            out.write(outAt + i, length, target);
            if (!aMoves && !bMoves && !out.isDirect()) {
                Arrays.fill(other, 0, Math.min(n, PIECE), b.get(bAt));
            }
        }
    }

    @Override
    public void where(NdArray condition, NdArray a, NdArray b, NdArray out) {
        int bytes = out.dtype().bytes();
        if (bytes != 4 && bytes != 2) {
            reference.where(condition, a, b, out);
            return;
        }
        Object left = ((HostStorage) a.storage()).array();
        Object right = ((HostStorage) b.storage()).array();
        Object to = ((HostStorage) out.storage()).array();
        byte[] choice = ((HostStorage) condition.storage()).booleans();
        for (Runs runs = Runs.of(out.shape(), condition.shape(), a.shape(), b.shape()); runs.more(); runs.next()) {
            WhereLoops.choose(
                    choice,
                    (int) condition.offset() + runs.offset(0),
                    runs.moves(0) ? 1 : 0,
                    left,
                    (int) a.offset() + runs.offset(1),
                    runs.moves(1) ? 1 : 0,
                    right,
                    (int) b.offset() + runs.offset(2),
                    runs.moves(2) ? 1 : 0,
                    to,
                    (int) out.offset() + runs.at(),
                    runs.length());
        }
    }

    @Override
    public void cast(NdArray x, NdArray out) {
        int n = (int) x.elements();
        if (x.dtype() == out.dtype()) {
            System.arraycopy(
                    ((HostStorage) x.storage()).array(),
                    (int) x.offset(),
                    ((HostStorage) out.storage()).array(),
                    (int) out.offset(),
                    n);
        } else if (FloatView.suits(x.dtype()) && FloatView.suits(out.dtype())) {
            FloatView from = new FloatView(floats, x);
            FloatView to = new FloatView(floats, out);
            float[] scratch = pool.takeFloats(PIECE);
            for (int i = 0; i < n; i += PIECE) {
                int length = Math.min(PIECE, n - i);
                float[] source = from.read(i, length, scratch);
                if (from.isDirect()) {
                    System.arraycopy(source, from.at(i), scratch, 0, length);
                }
                float[] target = to.target(scratch);
                if (to.isDirect()) {
                    System.arraycopy(scratch, 0, target, to.at(i), length);
                }
                to.write(i, length, target);
            }
            pool.giveFloats(scratch);
        } else {
            reference.cast(x, out);
        }
    }

    @Override
    public void fill(NdArray out, double value) {
        int from = (int) out.offset();
        int to = from + (int) out.elements();
        if (from < to) {
            reference.fill(out.window(0, Shape.scalar()), value);
            ArrayKind.of(out.dtype()).repeat(((HostStorage) out.storage()).array(), from, to);
        }
    }

    @Override
    public void addScaled(double alpha, NdArray x, NdArray y) {
        int n = (int) x.elements();
        if (x.dtype() == DType.FLOAT32) {
            floats.addScaled((float) alpha, floatsOf(x), (int) x.offset(), floatsOf(y), (int) y.offset(), n);
        } else if (x.dtype().isHalf()) {
            FloatView from = new FloatView(floats, x);
            FloatView to = new FloatView(floats, y);
            float[] term = pool.takeFloats(PIECE);
            float[] sum = pool.takeFloats(PIECE);
            for (int i = 0; i < n; i += PIECE) {
                int length = Math.min(PIECE, n - i);
                floats.addScaled((float) alpha, from.read(i, length, term), 0, to.read(i, length, sum), 0, length);
                to.write(i, length, sum);
            }
            pool.giveFloats(sum);
            pool.giveFloats(term);
        } else if (x.dtype() == DType.FLOAT64) {
            DoubleElementwise.addScaled(alpha, x, y);
        } else {
            reference.addScaled(alpha, x, y);
        }
    }

    @Override
    public void copy(
            NdArray src,
            long srcOffset,
            long[] srcStrides,
            NdArray dst,
            long dstOffset,
            long[] dstStrides,
            long[] sizes) {
        StridedCopy.copy(
                ((HostStorage) src.storage()).array(),
                src.offset() + srcOffset,
                srcStrides,
                ((HostStorage) dst.storage()).array(),
                dst.offset() + dstOffset,
                dstStrides,
                sizes);
    }

    @Override
    public void biasActivation(Activation activation, NdArray x, NdArray bias, NdArray out) {
        if (FloatView.suits(x.dtype())) {
            new FusedActivations(floats, pool).biasActivation(activation, x, bias, out);
        } else {
            reference.biasActivation(activation, x, bias, out);
        }
    }

    @Override
    public void biasActivationGrad(Activation activation, NdArray x, NdArray bias, NdArray dy, NdArray dx) {
        if (FloatView.suits(x.dtype())) {
            new FusedActivations(floats, pool).biasActivationGrad(activation, x, bias, dy, dx);
        } else {
            reference.biasActivationGrad(activation, x, bias, dy, dx);
        }
    }

    @Override
    public void gated(Activation activation, NdArray gate, NdArray up, NdArray out) {
        if (FloatView.suits(gate.dtype())) {
            new FusedActivations(floats, pool).gated(activation, gate, up, out);
        } else {
            reference.gated(activation, gate, up, out);
        }
    }

    @Override
    public void gatedGrad(Activation activation, NdArray gate, NdArray up, NdArray dy, NdArray dGate, NdArray dUp) {
        if (FloatView.suits(gate.dtype())) {
            new FusedActivations(floats, pool).gatedGrad(activation, gate, up, dy, dGate, dUp);
        } else {
            reference.gatedGrad(activation, gate, up, dy, dGate, dUp);
        }
    }
}
