package org.tp4j.tests.autograd.program;

import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.BinaryOperator;
import org.jspecify.annotations.Nullable;
import org.tp4j.layout.Placement;
import org.tp4j.layout.Placement.Shard;
import org.tp4j.tensor.Activation;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.Tensor;

/** Steps that treat elements apart. */
final class ElementwiseSteps {
    private static final double NEAR = 1e-6; // a kink this near is left alone

    private final Random random;
    private final Leaves leaves;
    private final List<Entry> pool;

    ElementwiseSteps(Random random, Leaves leaves, List<Entry> pool) {
        this.random = random;
        this.leaves = leaves;
        this.pool = pool;
    }

    @Nullable Step next(Entry x) {
        return switch (random.nextInt(20)) {
            case 0 -> Step.unary("tanh", x, Tensor::tanh);
            case 1 -> Step.unary("sigmoid", x, Tensor::sigmoid);
            case 2 -> Step.unary("gelu", x, Tensor::gelu);
            case 3 -> Step.unary("silu", x, Tensor::silu);
            case 4 -> Step.unary("neg", x, Tensor::neg);
            case 5 -> Step.unary("add number", x, t -> t.add(0.75));
            case 6 -> Step.unary("mul number", x, t -> t.mul(-0.5));
            case 7 -> x.distanceTo(0) < NEAR ? null : Step.unary("relu", x, Tensor::relu);
            case 8 -> x.distanceTo(0) < NEAR ? null : Step.unary("abs", x, Tensor::abs);
            case 9 -> x.largest() > 2 ? null : Step.unary("exp", x, Tensor::exp);
            case 10 -> dropout(x);
            case 11, 12 -> binary("add", x, Tensor::add);
            case 13 -> binary("sub", x, Tensor::sub);
            case 14, 15 -> binary("mul", x, Tensor::mul);
            case 16 -> div(x);
            case 17 -> choice(x);
            case 18 -> fused(x);
            default -> Step.unary("square", x, Tensor::square);
        };
    }

    private Step dropout(Entry x) {
        long stream = random.nextInt(100);
        return Step.unary("dropout", x, t -> t.dropout(0.3, 1, stream));
    }

    private Step binary(String name, Entry x, BinaryOperator<Tensor> operation) {
        Entry y = partner(x);
        boolean swapped = random.nextBoolean();
        return swapped
                ? Step.of(name, in -> operation.apply(in.get(1), in.get(0)), x, y)
                : Step.of(name, in -> operation.apply(in.get(0), in.get(1)), x, y);
    }

    private @Nullable Step div(Entry x) {
        Entry y = partner(x);
        return y.distanceTo(0) < 0.2 ? null : Step.of("div", in -> in.get(0).div(in.get(1)), x, y);
    }

    private @Nullable Step choice(Entry x) {
        Entry mask = leaves.truths(broadcastable(x.shape()));
        if (random.nextBoolean()) {
            double value = random.nextBoolean() ? 0 : 0.25;
            return Step.of("maskedFill", in -> in.get(0).maskedFill(in.get(1), value), x, mask);
        }
        Entry y = partner(x);
        return Step.of("where", in -> in.get(0).where(in.get(1), in.get(2)), x, mask, y);
    }

    private @Nullable Step fused(Entry x) {
        if (x.dims() == 0) {
            return null;
        }
        if (random.nextBoolean()) {
            Entry up = random.nextBoolean() ? x : leaves.beside(x, x.shape(), p -> p);
            return Step.of("gated", in -> in.get(0).gated(in.get(1), Activation.SILU), x, up);
        }
        int last = x.dims() - 1;
        Entry bias = leaves.beside(
                x,
                Shape.of(x.shape().size(-1)),
                p -> p instanceof Shard s ? s.dim() == last ? new Shard(0, s.unit()) : Placement.replicate() : p);
        return Step.of("biasActivation", in -> in.get(0).biasActivation(in.get(1), Activation.GELU), x, bias);
    }

    /** Another entry that broadcasts with this one, this one itself, or a new leaf. */
    private Entry partner(Entry x) {
        int kind = random.nextInt(6);
        if (kind == 0) {
            return x;
        }
        List<Entry> fitting = pool.stream().filter(e -> fits(e, x)).toList();
        if (kind < 3 && !fitting.isEmpty()) {
            return fitting.get(random.nextInt(fitting.size()));
        }
        Shape shape = kind == 3 ? broadcastable(x.shape()) : x.shape();
        int dropped = x.dims() - shape.dims();
        return leaves.beside(
                x,
                shape,
                p -> p instanceof Shard s
                        ? s.dim() >= dropped
                                        && shape.size(s.dim() - dropped)
                                                == x.shape().size(s.dim())
                                ? new Shard(s.dim() - dropped, s.unit())
                                : Placement.replicate()
                        : p);
    }

    private static boolean fits(Entry a, Entry b) {
        try {
            return a.shape().broadcast(b.shape()).elements() <= 200;
        } catch (IllegalArgumentException differ) {
            return false;
        }
    }

    private Shape broadcastable(Shape to) {
        int dropped = random.nextInt(to.dims() + 1);
        long[] sizes = Arrays.copyOfRange(to.toArray(), dropped, to.dims());
        for (int d = 0; d < sizes.length; d++) {
            sizes[d] = random.nextInt(3) == 0 ? 1 : sizes[d];
        }
        return Shape.of(sizes);
    }
}
