package org.tp4j.tests.autograd.program;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.tp4j.autograd.Tensors;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.Tensor;

/** Steps that reduce, move or repeat elements. */
final class ShapeSteps {
    private final Random random;
    private final Leaves leaves;
    private final List<Entry> pool;

    ShapeSteps(Random random, Leaves leaves, List<Entry> pool) {
        this.random = random;
        this.leaves = leaves;
        this.pool = pool;
    }

    @Nullable Step next(Entry x) {
        if (x.dims() == 0) {
            return Step.unary("expand", x, t -> t.expand(2, 3));
        }
        int dim = random.nextInt(x.dims());
        long n = x.shape().size(dim);
        boolean keep = random.nextBoolean();
        return switch (random.nextInt(13)) {
            case 0 -> Step.unary("sum", x, t -> t.sum(keep, dim));
            case 1 -> n == 0 ? null : Step.unary("mean", x, t -> t.mean(keep, dim));
            case 2 -> Step.unary("sum of all", x, Tensor::sum);
            case 3 -> extremum(x, keep, dim);
            case 4 -> n == 0 ? null : Step.unary("variance", x, t -> t.variance(false, keep, dim));
            case 5, 6 -> reshape(x);
            case 7 -> permute(x);
            case 8 -> slice(x, dim);
            case 9 -> {
                double value = random.nextBoolean() ? 0 : 0.5;
                yield Step.unary("pad", x, t -> t.pad(dim, 1, keep ? 1 : 0, value));
            }
            case 10, 11 -> concat(x, dim);
            default -> expand(x);
        };
    }

    private @Nullable Step extremum(Entry x, boolean keep, int dim) {
        if (x.shape().elements() == 0) {
            return null;
        }
        boolean largest = random.nextBoolean();
        Tensor values = largest ? x.alone().detach() : x.alone().detach().neg();
        Tensor near = values.gt(values.max(true, dim).sub(1e-6))
                .cast(org.tp4j.tensor.DType.FLOAT64)
                .sum(false, dim);
        for (double winners : near.toDoubles()) {
            if (winners != 1) {
                return null; // rounding would decide who gets the gradient
            }
        }
        return largest ? Step.unary("max", x, t -> t.max(keep, dim)) : Step.unary("min", x, t -> t.min(keep, dim));
    }

    private Step reshape(Entry x) {
        List<Long> sizes = new ArrayList<>();
        for (long size : x.shape().toArray()) {
            if (!sizes.isEmpty() && random.nextInt(3) == 0) {
                sizes.set(sizes.size() - 1, sizes.get(sizes.size() - 1) * size);
            } else if (size % 2 == 0 && size > 0 && random.nextBoolean()) {
                sizes.add(size / 2);
                sizes.add(2L);
            } else {
                sizes.add(size);
            }
            if (random.nextInt(5) == 0) {
                sizes.add(1L);
            }
        }
        if (random.nextInt(4) == 0) {
            sizes.removeIf(s -> s == 1);
        }
        long[] to = sizes.stream().mapToLong(Long::longValue).toArray();
        return Step.unary("reshape", x, t -> t.reshape(to));
    }

    private Step permute(Entry x) {
        List<Integer> order =
                new ArrayList<>(IntStream.range(0, x.dims()).boxed().toList());
        Collections.shuffle(order, random);
        int[] dims = order.stream().mapToInt(Integer::intValue).toArray();
        return Step.unary("permute", x, t -> t.permute(dims));
    }

    private Step slice(Entry x, int dim) {
        long from = random.nextInt((int) x.shape().size(dim) + 1);
        long to = from + random.nextInt((int) (x.shape().size(dim) - from) + 1);
        return Step.unary("slice", x, t -> t.slice(dim, from, to));
    }

    private Step concat(Entry x, int dim) {
        List<Entry> fitting = pool.stream()
                .filter(e -> e.dims() == x.dims()
                        && e.shape().with(dim, 0).equals(x.shape().with(dim, 0)))
                .toList();
        Shape other = x.shape().with(dim, 1 + random.nextInt(2));
        Entry y = random.nextBoolean() ? fitting.get(random.nextInt(fitting.size())) : leaves.beside(x, other, p -> p);
        return Step.of("concat", in -> Tensors.concat(dim, in.toArray(new Tensor[0])), x, y);
    }

    private Step expand(Entry x) {
        long[] to = x.shape().toArray();
        for (int d = 0; d < to.length; d++) {
            to[d] = to[d] == 1 && random.nextBoolean() ? 3 : to[d];
        }
        long[] more = new long[to.length + 1];
        System.arraycopy(to, 0, more, 1, to.length);
        more[0] = 2;
        long[] chosen = random.nextBoolean() ? to : more;
        return Step.unary("expand", x, t -> t.expand(chosen));
    }
}
