package org.tp4j.cuda.internal.kernels;

import org.tp4j.cuda.internal.compile.CppText;
import org.tp4j.cuda.internal.driver.CudaDevice;
import org.tp4j.cuda.internal.driver.DeviceStream;
import org.tp4j.cuda.internal.launch.Arguments;
import org.tp4j.cuda.internal.launch.Grid;
import org.tp4j.cuda.internal.launch.KernelFamily;
import org.tp4j.cuda.internal.launch.Kernels;
import org.tp4j.cuda.internal.launch.StridedBox;
import org.tp4j.cuda.internal.memory.CudaStorage;
import org.tp4j.tensor.Activation;
import org.tp4j.tensor.BinaryFunction;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.ElementwiseKernels;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.TpException;
import org.tp4j.tensor.UnaryFunction;

/**
 * Elementwise kernels of every type. All of them move 16 bytes at a time where the output allows; operands that are aligned
 * otherwise are loaded element by element.
 *
 * <p>A quotient of integers by 0 is 0: a kernel has nobody to throw an exception to.
 */
public final class CudaElementwise implements ElementwiseKernels {
    private static final String FUSED = "fused";
    private static final long MOST_BIASED = 1L << 30; // elements a launch with 32-bit indices

    private final CudaDevice device;
    private final KernelFamily unary;
    private final KernelFamily binary;
    private final KernelFamily binaryBroadcast;
    private final KernelFamily compare;
    private final KernelFamily addScaled;
    private final KernelFamily cast;
    private final KernelFamily biasActivation;
    private final KernelFamily biasActivationGrad;
    private final KernelFamily gated;
    private final KernelFamily gatedGrad;
    private final CudaCopies copies;

    public CudaElementwise(Kernels kernels, DeviceStream stream) {
        this.device = kernels.device();
        this.unary = new KernelFamily(kernels, "unary", "unary");
        this.binary = new KernelFamily(kernels, "binary", "binary");
        this.binaryBroadcast = new KernelFamily(kernels, "broadcast", "binaryBroadcast");
        this.compare = new KernelFamily(kernels, "broadcast", "compare");
        this.addScaled = new KernelFamily(kernels, "binary", "addScaled");
        this.cast = new KernelFamily(kernels, "cast", "cast");
        this.biasActivation = new KernelFamily(kernels, FUSED, "biasActivation");
        this.biasActivationGrad = new KernelFamily(kernels, FUSED, "biasActivationGrad");
        this.gated = new KernelFamily(kernels, FUSED, "gated");
        this.gatedGrad = new KernelFamily(kernels, FUSED, "gatedGrad");
        this.copies = new CudaCopies(kernels, stream);
    }

    private void launch(KernelFamily family, DType type, long n, Arguments arguments) {
        family.of(type).launch(Grid.blocksOfPacks(device, n, type.bytes()), Grid.THREADS, arguments);
    }

    @Override
    public void unary(UnaryFunction function, NdArray x, NdArray out, double a, double b) {
        DType type = x.dtype();
        if (!function.isDefinedFor(type)) {
            throw undefined(function, type);
        }
        long n = x.elements();
        if (n > 0) {
            Arguments arguments = Arguments.begin().array(x).array(out).int64(n).int32(CppText.code(function));
            boolean clamps = function == UnaryFunction.CLAMP;
            writeFactors(arguments, type, a, b, (long) (clamps ? Math.ceil(a) : a), (long) Math.floor(b));
            launch(unary, type, n, arguments);
        }
    }

    /** Writes the kernels' {@code Factors}, which are more for integers. */
    private static void writeFactors(Arguments arguments, DType type, double a, double b, long wholeA, long wholeB) {
        arguments.float64(a).float64(b);
        if (!type.isFloating()) {
            arguments.int64(wholeA).int64(wholeB).int32(a == (long) a ? 1 : 0);
        }
    }

    private static TpException undefined(Enum<?> function, DType type) {
        return new TpException(function + " of " + type + " is not defined; HINT: cast to float32 first");
    }

    @Override
    public void binary(BinaryFunction function, NdArray a, NdArray b, NdArray out) {
        DType type = a.dtype();
        if (!function.isDefinedFor(type)) {
            throw undefined(function, type);
        }
        long n = out.elements();
        boolean plain = (a.elements() == n || a.elements() == 1) && (b.elements() == n || b.elements() == 1);
        if (n == 0) {
            return;
        } else if (plain && !function.givesBool()) {
            Arguments arguments = Arguments.begin()
                    .array(a)
                    .array(b)
                    .array(out)
                    .int64(n)
                    .int64(a.elements() == n ? 1 : 0)
                    .int64(b.elements() == n ? 1 : 0)
                    .int32(CppText.code(function));
            launch(binary, type, n, arguments);
        } else {
            broadcast(function, a, b, out);
        }
    }

    private void broadcast(BinaryFunction function, NdArray a, NdArray b, NdArray out) {
        int bytes = a.dtype().bytes();
        long fromA = CudaStorage.addressOf(a);
        long fromB = CudaStorage.addressOf(b);
        long to = CudaStorage.addressOf(out);
        KernelFamily family = function.givesBool() ? compare : binaryBroadcast;
        StridedBox.of(
                        out.shape().toArray(),
                        StridedBox.broadcastStrides(a.shape(), out.shape()),
                        StridedBox.broadcastStrides(b.shape(), out.shape()))
                .forEachPart(part -> {
                    Arguments arguments = part.writeSizes(Arguments.begin());
                    part.writeStrides(arguments, 0);
                    part.writeStrides(arguments, 1)
                            .int64(fromA + part.offset(0) * bytes)
                            .int64(fromB + part.offset(1) * bytes)
                            .int64(to + part.first() * out.dtype().bytes())
                            .int64(part.elements())
                            .int32(CppText.code(function));
                    launch(family, a.dtype(), part.elements(), arguments);
                });
    }

    @Override
    public void where(NdArray condition, NdArray a, NdArray b, NdArray out) {
        copies.where(condition, a, b, out);
    }

    @Override
    public void cast(NdArray x, NdArray out) {
        long n = x.elements();
        if (x.dtype() == out.dtype()) {
            copies.copyWhole(x, out);
        } else if (n > 0) {
            int bytes = Math.max(x.dtype().bytes(), out.dtype().bytes());
            Arguments arguments = Arguments.begin().array(x).array(out).int64(n).int32(CppText.code(out.dtype()));
            cast.of(x.dtype()).launch(Grid.blocksOfPacks(device, n, bytes), Grid.THREADS, arguments);
        }
    }

    @Override
    public void fill(NdArray out, double value) {
        copies.fill(out, value);
    }

    @Override
    public void addScaled(double alpha, NdArray x, NdArray y) {
        DType type = x.dtype();
        long n = x.elements();
        if (n > 0) {
            Arguments arguments = Arguments.begin().array(x).array(y).int64(n);
            arguments.float64(alpha).float64(0);
            if (!type.isFloating()) {
                boolean exact = type.isInteger() && alpha == (long) alpha;
                arguments.int64((long) alpha).int64(0).int32(exact ? 1 : 0);
            }
            launch(addScaled, type, n, arguments);
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
        copies.copy(src, srcOffset, srcStrides, dst, dstOffset, dstStrides, sizes);
    }

    @Override
    public void biasActivation(Activation activation, NdArray x, NdArray bias, NdArray out) {
        biased(biasActivation, activation, x, bias, null, out);
    }

    @Override
    public void biasActivationGrad(Activation activation, NdArray x, NdArray bias, NdArray dy, NdArray dx) {
        biased(biasActivationGrad, activation, x, bias, dy, dx);
    }

    private void biased(
            KernelFamily family,
            Activation activation,
            NdArray x,
            NdArray bias,
            @org.jspecify.annotations.Nullable NdArray dy,
            NdArray out) {
        long total = x.elements();
        if (total == 0) {
            return;
        }
        DType type = x.dtype();
        long columns = bias.elements();
        if (columns > MOST_BIASED) {
            throw new TpException("a bias of " + columns + " elements was given, the most is " + MOST_BIASED
                    + "; HINT: shard it over more ranks");
        }
        long piece = Math.max(1, MOST_BIASED / columns) * columns; // whole rows
        for (long at = 0; at < total; at += piece) {
            long n = Math.min(piece, total - at);
            long bytes = at * type.bytes();
            Arguments arguments = Arguments.begin()
                    .int64(CudaStorage.addressOf(x) + bytes)
                    .array(bias)
                    .int64(dy == null ? 0 : CudaStorage.addressOf(dy) + bytes)
                    .int64(CudaStorage.addressOf(out) + bytes)
                    .int64(n);
            StridedBox.writeDivider(arguments, columns).int32(CppText.code(activation));
            launch(family, type, n, arguments);
        }
    }

    @Override
    public void gated(Activation activation, NdArray gate, NdArray up, NdArray out) {
        long n = gate.elements();
        if (n > 0) {
            Arguments arguments = Arguments.begin()
                    .array(gate)
                    .array(up)
                    .array(null)
                    .array(out)
                    .array(null)
                    .int64(n)
                    .int32(CppText.code(activation));
            launch(gated, gate.dtype(), n, arguments);
        }
    }

    @Override
    public void gatedGrad(Activation activation, NdArray gate, NdArray up, NdArray dy, NdArray dGate, NdArray dUp) {
        long n = gate.elements();
        if (n > 0) {
            Arguments arguments = Arguments.begin()
                    .array(gate)
                    .array(up)
                    .array(dy)
                    .array(dGate)
                    .array(dUp)
                    .int64(n)
                    .int32(CppText.code(activation));
            launch(gatedGrad, gate.dtype(), n, arguments);
        }
    }
}
