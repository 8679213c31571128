package org.tp4j.cpu.internal.reference;

import org.tp4j.cpu.internal.memory.ElementAccess;
import org.tp4j.cpu.internal.memory.Odometer;
import org.tp4j.tensor.Activation;
import org.tp4j.tensor.BinaryFunction;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.ElementwiseKernels;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.UnaryFunction;

/** Elementwise kernels as their definitions read, for every type, one element at a time: the oracle of the fast ones. */
public final class ReferenceElementwise implements ElementwiseKernels {
    @Override
    public void unary(UnaryFunction function, NdArray x, NdArray out, double a, double b) {
        ElementAccess from = ElementAccess.of(x);
        ElementAccess to = ElementAccess.of(out);
        long n = x.elements();
        if (x.dtype().isFloating()) {
            for (long i = 0; i < n; i++) {
                to.set(i, function.apply(from.get(i), a, b));
            }
        } else {
            for (long i = 0; i < n; i++) {
                to.setLong(i, function.apply(from.getLong(i), a, b));
            }
        }
    }

    @Override
    public void binary(BinaryFunction function, NdArray a, NdArray b, NdArray out) {
        ElementAccess left = ElementAccess.of(a);
        ElementAccess right = ElementAccess.of(b);
        ElementAccess to = ElementAccess.of(out);
        boolean floating = a.dtype().isFloating();
        Odometer at = new Odometer(out.shape(), a.shape(), b.shape());
        for (long i = 0; i < out.elements(); i++, at.next()) {
            if (floating) {
                to.set(i, function.apply(left.get(at.offset(0)), right.get(at.offset(1))));
            } else {
                to.setLong(i, function.apply(left.getLong(at.offset(0)), right.getLong(at.offset(1))));
            }
        }
    }

    @Override
    public void where(NdArray condition, NdArray a, NdArray b, NdArray out) {
        ElementAccess chosen = ElementAccess.of(condition);
        ElementAccess left = ElementAccess.of(a);
        ElementAccess right = ElementAccess.of(b);
        ElementAccess to = ElementAccess.of(out);
        boolean integer = out.dtype().isInteger();
        Odometer at = new Odometer(out.shape(), condition.shape(), a.shape(), b.shape());
        for (long i = 0; i < out.elements(); i++, at.next()) {
            boolean first = chosen.get(at.offset(0)) != 0;
            ElementAccess from = first ? left : right;
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
        ElementAccess from = ElementAccess.of(x);
        ElementAccess to = ElementAccess.of(out);
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
        ElementAccess to = ElementAccess.of(out);
        for (long i = 0; i < out.elements(); i++) {
            to.set(i, value);
        }
    }

    @Override
    public void addScaled(double alpha, NdArray x, NdArray y) {
        ElementAccess from = ElementAccess.of(x);
        ElementAccess to = ElementAccess.of(y);
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
        ElementAccess from = ElementAccess.of(src);
        ElementAccess to = ElementAccess.of(dst);
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
        ElementAccess from = ElementAccess.of(x);
        ElementAccess shift = ElementAccess.of(bias);
        ElementAccess to = ElementAccess.of(out);
        long n = bias.elements();
        for (long i = 0; i < x.elements(); i++) {
            to.set(i, activation.forward().apply(from.get(i) + shift.get(i % n), 0, 0));
        }
    }

    @Override
    public void biasActivationGrad(Activation activation, NdArray x, NdArray bias, NdArray dy, NdArray dx) {
        ElementAccess from = ElementAccess.of(x);
        ElementAccess shift = ElementAccess.of(bias);
        ElementAccess upstream = ElementAccess.of(dy);
        ElementAccess to = ElementAccess.of(dx);
        long n = bias.elements();
        for (long i = 0; i < x.elements(); i++) {
            double z = from.get(i) + shift.get(i % n);
            to.set(i, activation.gradient().apply(z, upstream.get(i)));
        }
    }

    @Override
    public void gated(Activation activation, NdArray gate, NdArray up, NdArray out) {
        ElementAccess g = ElementAccess.of(gate);
        ElementAccess u = ElementAccess.of(up);
        ElementAccess to = ElementAccess.of(out);
        for (long i = 0; i < gate.elements(); i++) {
            to.set(i, activation.forward().apply(g.get(i), 0, 0) * u.get(i));
        }
    }

    @Override
    public void gatedGrad(Activation activation, NdArray gate, NdArray up, NdArray dy, NdArray dGate, NdArray dUp) {
        ElementAccess g = ElementAccess.of(gate);
        ElementAccess u = ElementAccess.of(up);
        ElementAccess upstream = ElementAccess.of(dy);
        ElementAccess toGate = ElementAccess.of(dGate);
        ElementAccess toUp = ElementAccess.of(dUp);
        for (long i = 0; i < gate.elements(); i++) {
            double x = g.get(i);
            double times = u.get(i);
            double d = upstream.get(i);
            toGate.set(i, activation.gradient().apply(x, times * d));
            toUp.set(i, activation.forward().apply(x, 0, 0) * d);
        }
    }
}
