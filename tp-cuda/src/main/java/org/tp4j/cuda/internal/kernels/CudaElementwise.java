package org.tp4j.cuda.internal.kernels;

import static org.tp4j.cuda.internal.arguments.ElementwiseArguments.ADD_SCALED;
import static org.tp4j.cuda.internal.arguments.ElementwiseArguments.BIASED;
import static org.tp4j.cuda.internal.arguments.ElementwiseArguments.BINARY;
import static org.tp4j.cuda.internal.arguments.ElementwiseArguments.BROADCAST;
import static org.tp4j.cuda.internal.arguments.ElementwiseArguments.CAST;
import static org.tp4j.cuda.internal.arguments.ElementwiseArguments.GATED;
import static org.tp4j.cuda.internal.arguments.ElementwiseArguments.UNARY;

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
 * Elementwise kernels of every type. All move 16 bytes at a time where the output's alignment allows; operands aligned
 * otherwise are loaded element by element.
 *
 * <p>Integer division by 0 gives 0: a kernel cannot throw an exception.
 */
public final class CudaElementwise implements ElementwiseKernels {
    private static final String FUSED = "fused";
    private static final long MOST_BIASED = 1L << 30; // elements per launch with 32-bit indices

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
            boolean clamps = function == UnaryFunction.CLAMP;
            long wholeA = (long) (clamps ? Math.ceil(a) : a);
            long wholeB = (long) Math.floor(b);
            Arguments arguments = Arguments.of(UNARY)
                    .set(UNARY.x, x)
                    .set(UNARY.out, out)
                    .set(UNARY.n, n)
                    .set(UNARY.function, function)
                    .set(UNARY.factors, a, b, wholeA, wholeB, a == (long) a);
            launch(unary, type, n, arguments);
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
            Arguments arguments = Arguments.of(BINARY)
                    .set(BINARY.left, a)
                    .set(BINARY.right, b)
                    .set(BINARY.out, out)
                    .set(BINARY.n, n)
                    .set(BINARY.leftStep, a.elements() == n ? 1 : 0)
                    .set(BINARY.rightStep, b.elements() == n ? 1 : 0)
                    .set(BINARY.function, function);
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
                    Arguments arguments = Arguments.of(BROADCAST)
                            .set(BROADCAST.box, part)
                            .set(BROADCAST.strides, part)
                            .set(BROADCAST.left, fromA + part.offset(0) * bytes)
                            .set(BROADCAST.right, fromB + part.offset(1) * bytes)
                            .set(BROADCAST.out, to + part.first() * out.dtype().bytes())
                            .set(BROADCAST.n, part.elements())
                            .set(BROADCAST.function, function);
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
            Arguments arguments = Arguments.of(CAST)
                    .set(CAST.x, x)
                    .set(CAST.out, out)
                    .set(CAST.n, n)
                    .set(CAST.type, out.dtype());
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
            boolean exact = type.isInteger() && alpha == (long) alpha;
            Arguments arguments = Arguments.of(ADD_SCALED)
                    .set(ADD_SCALED.x, x)
                    .set(ADD_SCALED.y, y)
                    .set(ADD_SCALED.n, n)
                    .set(ADD_SCALED.factors, alpha, 0, (long) alpha, 0, exact);
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
            Arguments arguments = Arguments.of(BIASED)
                    .set(BIASED.x, CudaStorage.addressOf(x) + bytes)
                    .set(BIASED.bias, bias)
                    .set(BIASED.dy, dy == null ? 0 : CudaStorage.addressOf(dy) + bytes)
                    .set(BIASED.out, CudaStorage.addressOf(out) + bytes)
                    .set(BIASED.n, n)
                    .set(BIASED.columns, columns)
                    .set(BIASED.activation, activation);
            launch(family, type, n, arguments);
        }
    }

    @Override
    public void gated(Activation activation, NdArray gate, NdArray up, NdArray out) {
        long n = gate.elements();
        if (n > 0) {
            Arguments arguments = Arguments.of(GATED)
                    .set(GATED.gate, gate)
                    .set(GATED.up, up)
                    .set(GATED.dy, 0)
                    .set(GATED.out, out)
                    .set(GATED.dUp, 0)
                    .set(GATED.n, n)
                    .set(GATED.activation, activation);
            launch(gated, gate.dtype(), n, arguments);
        }
    }

    @Override
    public void gatedGrad(Activation activation, NdArray gate, NdArray up, NdArray dy, NdArray dGate, NdArray dUp) {
        long n = gate.elements();
        if (n > 0) {
            Arguments arguments = Arguments.of(GATED)
                    .set(GATED.gate, gate)
                    .set(GATED.up, up)
                    .set(GATED.dy, dy)
                    .set(GATED.out, dGate)
                    .set(GATED.dUp, dUp)
                    .set(GATED.n, n)
                    .set(GATED.activation, activation);
            launch(gatedGrad, gate.dtype(), n, arguments);
        }
    }
}
