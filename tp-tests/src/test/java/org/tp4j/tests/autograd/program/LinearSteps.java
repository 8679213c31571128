package org.tp4j.tests.autograd.program;

import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.tp4j.layout.Placement;
import org.tp4j.layout.Placement.Shard;
import org.tp4j.tensor.CrossEntropyOptions;
import org.tp4j.tensor.Shape;

/** Products, norms, look-ups and losses: what layers are made of. */
final class LinearSteps {
    private final Random random;
    private final Leaves leaves;

    LinearSteps(Random random, Leaves leaves) {
        this.random = random;
        this.leaves = leaves;
    }

    @Nullable Step next(Entry x) {
        if (x.dims() == 0 || x.shape().size(-1) == 0) {
            return null;
        }
        return switch (random.nextInt(8)) {
            case 0, 1, 2 -> linear(x);
            case 3 -> matmul(x);
            case 4 -> norm(x);
            case 5 -> softmax(x);
            case 6 -> gatherRows(x);
            default -> crossEntropy(x);
        };
    }

    private Step linear(Entry x) {
        int last = x.dims() - 1;
        long n = 1 + random.nextInt(5);
        Entry w = leaves.beside(x, Shape.of(n, x.shape().size(-1)), p -> weight(p, last));
        if (random.nextBoolean()) {
            return Step.of("linear", in -> in.get(0).linear(in.get(1), null), x, w);
        }
        Entry b =
                leaves.beside(w, Shape.of(n), p -> p instanceof Shard s ? s.dim() == 0 ? s : Placement.invariant() : p);
        return Step.of("linear with bias", in -> in.get(0).linear(in.get(1), in.get(2)), x, w, b);
    }

    /** Column-parallel beside a whole input, row-parallel beside one that is cut along its features. */
    private Placement weight(Placement x, int last) {
        if (x instanceof Shard s) {
            return s.dim() == last ? new Shard(1, s.unit()) : Placement.replicate();
        }
        boolean column = x == Placement.replicate() && random.nextInt(3) > 0;
        return column ? Placement.shard(0) : x instanceof Placement.Partial ? Placement.replicate() : x;
    }

    private @Nullable Step matmul(Entry x) {
        if (x.dims() < 2) {
            return null;
        }
        int last = x.dims() - 1;
        if (random.nextBoolean()) {
            boolean first = random.nextBoolean(); // x xᵀ or xᵀ x
            return Step.unary("matmul with itself", x, t -> t.matmul(t, first, !first));
        }
        long n = 1 + random.nextInt(4);
        Entry b = leaves.beside(
                x,
                Shape.of(x.shape().size(-1), n),
                p -> p instanceof Shard s
                        ? s.dim() == last ? new Shard(0, s.unit()) : Placement.replicate()
                        : weight(p, last));
        return Step.of("matmul", in -> in.get(0).matmul(in.get(1)), x, b);
    }

    private @Nullable Step norm(Entry x) {
        if (x.shape().size(-1) < 3 || x.largest() < 0.05) {
            return null; // rows of few or equal elements amplify rounding
        }
        Shape n = Shape.of(x.shape().size(-1));
        Entry w = leaves.beside(x, n, p -> p instanceof Shard ? Placement.replicate() : p);
        if (random.nextBoolean()) {
            return Step.of("rmsNorm", in -> in.get(0).rmsNorm(in.get(1), 0.1), x, w);
        }
        Entry b = leaves.beside(w, n, p -> p);
        return Step.of("layerNorm", in -> in.get(0).layerNorm(in.get(1), in.get(2), 0.1), x, w, b);
    }

    private Step softmax(Entry x) {
        int dim = random.nextInt(x.dims());
        return random.nextBoolean()
                ? Step.unary("softmax", x, t -> t.softmax(dim))
                : Step.unary("logSoftmax", x, t -> t.logSoftmax(dim));
    }

    private @Nullable Step gatherRows(Entry x) {
        if (x.dims() != 2 || x.shape().size(0) == 0) {
            return null;
        }
        Entry ids = leaves.ids(Shape.of(2, 1 + random.nextInt(3)), x.shape().size(0));
        return Step.of("gatherRows", in -> in.get(0).gatherRows(in.get(1)), x, ids);
    }

    private Step crossEntropy(Entry x) {
        Entry labels = leaves.ids(x.shape().without(-1), x.shape().size(-1));
        CrossEntropyOptions.Reduction[] kinds = CrossEntropyOptions.Reduction.values();
        CrossEntropyOptions options = CrossEntropyOptions.DEFAULT
                .withReduction(kinds[random.nextInt(3)])
                .withIgnoreIndex(random.nextInt(2) == 0 ? 0 : -100)
                .withLabelSmoothing(0.1);
        return Step.of("crossEntropy", in -> in.get(0).crossEntropy(in.get(1), options), x, labels);
    }
}
