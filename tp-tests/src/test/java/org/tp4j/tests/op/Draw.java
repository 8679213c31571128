package org.tp4j.tests.op;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.Shape;
import org.tp4j.tests.oracle.Whole;

/** Draws shapes and values for operations. */
final class Draw {
    private static final double SPREAD = 4; // values lie in [-2, 2]

    /** Which sizes are drawn. */
    enum Sizes {
        /** One to six. */
        SMALL,
        /** All are 1. */
        ONES,
        /** Zero now and then. */
        EMPTY
    }

    private final Random random;
    private final Sizes sizes;

    Draw(Random random, Sizes sizes) {
        this.random = random;
        this.sizes = sizes;
    }

    boolean coin() {
        return random.nextBoolean();
    }

    int below(int n) {
        return random.nextInt(n);
    }

    /** A size, perhaps 0. */
    long size() {
        return sizes == Sizes.EMPTY && below(3) == 0 ? 0 : atLeastOne();
    }

    long atLeastOne() {
        return sizes == Sizes.ONES ? 1 : 1 + below(6);
    }

    /** A shape of {@code least} to {@code most} dimensions. */
    Shape shape(int least, int most) {
        long[] result = new long[least + below(most - least + 1)];
        Arrays.setAll(result, d -> size());
        return Shape.of(result);
    }

    /** A shape none of whose sizes is 0. */
    Shape full(int least, int most) {
        long[] result = new long[least + below(most - least + 1)];
        Arrays.setAll(result, d -> atLeastOne());
        return Shape.of(result);
    }

    /** A shape that broadcasts to this one: leading dimensions left out, others 1. */
    Shape broadcastable(Shape to) {
        int dropped = below(3) == 0 ? below(to.dims() + 1) : 0;
        long[] result = Arrays.copyOfRange(to.toArray(), dropped, to.dims());
        for (int d = 0; d < result.length; d++) {
            result[d] = below(4) == 0 ? 1 : result[d];
        }
        return Shape.of(result);
    }

    /** The sizes of {@code head}, then {@code tail}. */
    static Shape join(Shape head, long... tail) {
        long[] all = Arrays.copyOf(head.toArray(), head.dims() + tail.length);
        System.arraycopy(tail, 0, all, head.dims(), tail.length);
        return Shape.of(all);
    }

    /** A dimension, counted from either end. */
    int dim(Shape shape) {
        int dim = below(shape.dims());
        return coin() ? dim : dim - shape.dims();
    }

    /** Some dimensions in any order, perhaps none. */
    int[] dims(Shape shape) {
        List<Integer> all =
                new ArrayList<>(IntStream.range(0, shape.dims()).boxed().toList());
        Collections.shuffle(all, random);
        return all.stream()
                .limit(below(shape.dims() + 1))
                .mapToInt(d -> coin() ? d : d - shape.dims())
                .toArray();
    }

    /** An order of the dimensions. */
    int[] order(Shape shape) {
        List<Integer> all =
                new ArrayList<>(IntStream.range(0, shape.dims()).boxed().toList());
        Collections.shuffle(all, random);
        return all.stream().mapToInt(d -> coin() ? d : d - shape.dims()).toArray();
    }

    /** Values in [-2, 2], no two of them close, none close to 0. */
    Whole values(Shape shape) {
        int n = (int) shape.elements();
        List<Double> grid = new ArrayList<>();
        for (int i = 0; i < n; i++) {
            grid.add((i + 0.5 + 0.3 * random.nextDouble()) / n * SPREAD - SPREAD / 2);
        }
        Collections.shuffle(grid, random);
        double[] elements = grid.stream()
                .mapToDouble(v -> Math.abs(v) < 1e-3 ? 1e-3 + v : v)
                .toArray();
        return Whole.of(shape, elements);
    }

    /** Values in [0.5, 2]. */
    Whole positive(Shape shape) {
        return map(values(shape), v -> 1.25 + 0.375 * v);
    }

    /** Values of either sign, at least 0.5 in magnitude. */
    Whole awayFromZero(Shape shape) {
        return map(values(shape), v -> v < 0 ? v - 0.5 : v + 0.5);
    }

    /** Values a float32 holds exactly. */
    Whole narrow(Shape shape) {
        return map(values(shape), v -> (float) v);
    }

    private static Whole map(Whole whole, java.util.function.DoubleUnaryOperator f) {
        return Whole.of(whole.shape(), Arrays.stream(whole.elements()).map(f).toArray());
    }

    /** Integers in [0, n). */
    Whole ids(Shape shape, long n) {
        double[] elements = new double[(int) shape.elements()];
        Arrays.setAll(elements, i -> below((int) n));
        return new Whole(DType.INT64, shape, elements);
    }

    /** Truth values. */
    Whole truths(Shape shape) {
        double[] elements = new double[(int) shape.elements()];
        Arrays.setAll(elements, i -> below(2));
        return new Whole(DType.BOOL, shape, elements);
    }
}
