package org.tp4j.cpu;

import org.tp4j.tensor.Activation;
import org.tp4j.tensor.BinaryKernel;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.ElementwiseKernels;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.UnaryKernel;

/** Elementwise kernels as their definitions read, for every type, one element at a time: the oracle of the fast ones. */
final class ReferenceElementwise implements ElementwiseKernels {
    @Override
    public void unary(UnaryKernel kernel, NdArray x, NdArray out, double a, double b) {
        Cells from = Cells.of(x);
        Cells to = Cells.of(out);
        long n = x.elements();
        if (x.dtype().isFloating()) {
            for (long i = 0; i < n; i++) {
                to.set(i, ReferenceMath.unary(kernel, from.get(i), a, b));
            }
        } else {
            for (long i = 0; i < n; i++) {
                to.setLong(i, ReferenceMath.unary(kernel, from.getLong(i), a, b));
            }
        }
    }

    @Override
    public void binary(BinaryKernel kernel, NdArray a, NdArray b, NdArray out) {
        Cells left = Cells.of(a);
        Cells right = Cells.of(b);
        Cells to = Cells.of(out);
        boolean floating = a.dtype().isFloating();
        Odometer at = new Odometer(out.shape(), a.shape(), b.shape());
        for (long i = 0; i < out.elements(); i++, at.next()) {
            if (floating) {
                to.set(i, ReferenceMath.binary(kernel, left.get(at.offset(0)), right.get(at.offset(1))));
            } else {
                to.setLong(i, ReferenceMath.binary(kernel, left.getLong(at.offset(0)), right.getLong(at.offset(1))));
            }
        }
    }

    @Override
    public void where(NdArray condition, NdArray a, NdArray b, NdArray out) {
        Cells chosen = Cells.of(condition);
        Cells left = Cells.of(a);
        Cells right = Cells.of(b);
        Cells to = Cells.of(out);
        boolean integer = out.dtype().isInteger();
        Odometer at = new Odometer(out.shape(), condition.shape(), a.shape(), b.shape());
        for (long i = 0; i < out.elements(); i++, at.next()) {
            boolean first = chosen.get(at.offset(0)) != 0;
            Cells from = first ? left : right;
            long index = at.offset(first ? 1 : 2);
            if (integer) {
                to.setLong(i, from.getLong(index));
            } else {
                to.set(i, from.get(index));
            }
        }
    }

    @Override
    public void cast(NdArray x, NdArray out) {
        Cells from = Cells.of(x);
        Cells to = Cells.of(out);
        boolean floating = x.dtype().isFloating() || out.dtype() == DType.BOOL;
        for (long i = 0; i < x.elements(); i++) {
            if (floating) {
                to.set(i, from.get(i));
            } else {
                to.setLong(i, from.getLong(i));
            }
        }
    }

    @Override
    public void fill(NdArray out, double value) {
        Cells to = Cells.of(out);
        for (long i = 0; i < out.elements(); i++) {
            to.set(i, value);
        }
    }

    @Override
    public void addScaled(double alpha, NdArray x, NdArray y) {
        Cells from = Cells.of(x);
        Cells to = Cells.of(y);
        boolean exact = x.dtype().isInteger() && alpha == (long) alpha;
        for (long i = 0; i < x.elements(); i++) {
            if (exact) {
                to.setLong(i, to.getLong(i) + ((long) alpha) * from.getLong(i));
            } else {
                to.set(i, to.get(i) + alpha * from.get(i));
            }
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
        Cells from = Cells.of(src);
        Cells to = Cells.of(dst);
        boolean floating = src.dtype().isFloating();
        Shape box = Shape.of(sizes);
        Odometer at = new Odometer(sizes, srcStrides, dstStrides);
        for (long i = 0; i < box.elements(); i++, at.next()) {
            if (floating) {
                to.set(dstOffset + at.offset(1), from.get(srcOffset + at.offset(0)));
            } else {
                to.setLong(dstOffset + at.offset(1), from.getLong(srcOffset + at.offset(0)));
            }
        }
    }

    @Override
    public void biasActivation(Activation activation, NdArray x, NdArray bias, NdArray out) {
        Cells from = Cells.of(x);
        Cells shift = Cells.of(bias);
        Cells to = Cells.of(out);
        long n = bias.elements();
        for (long i = 0; i < x.elements(); i++) {
            to.set(i, ReferenceMath.unary(activation.forward(), from.get(i) + shift.get(i % n), 0, 0));
        }
    }

    @Override
    public void biasActivationGrad(Activation activation, NdArray x, NdArray bias, NdArray dy, NdArray dx) {
        Cells from = Cells.of(x);
        Cells shift = Cells.of(bias);
        Cells upstream = Cells.of(dy);
        Cells to = Cells.of(dx);
        long n = bias.elements();
        for (long i = 0; i < x.elements(); i++) {
            double z = from.get(i) + shift.get(i % n);
            to.set(i, ReferenceMath.binary(activation.gradient(), z, upstream.get(i)));
        }
    }

    @Override
    public void gated(Activation activation, NdArray gate, NdArray up, NdArray out) {
        Cells g = Cells.of(gate);
        Cells u = Cells.of(up);
        Cells to = Cells.of(out);
        for (long i = 0; i < gate.elements(); i++) {
            to.set(i, ReferenceMath.unary(activation.forward(), g.get(i), 0, 0) * u.get(i));
        }
    }

    @Override
    public void gatedGrad(Activation activation, NdArray gate, NdArray up, NdArray dy, NdArray dGate, NdArray dUp) {
        Cells g = Cells.of(gate);
        Cells u = Cells.of(up);
        Cells upstream = Cells.of(dy);
        Cells toGate = Cells.of(dGate);
        Cells toUp = Cells.of(dUp);
        for (long i = 0; i < gate.elements(); i++) {
            double x = g.get(i);
            double times = u.get(i);
            double d = upstream.get(i);
            toGate.set(i, ReferenceMath.binary(activation.gradient(), x, times * d));
            toUp.set(i, ReferenceMath.unary(activation.forward(), x, 0, 0) * d);
        }
    }
}
