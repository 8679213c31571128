package org.tp4j.nn;

import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Region;
import org.tp4j.tensor.Shape;

/**
 * Initial values of a parameter. Element i of the whole tensor is a function of i alone, so a rank that fills only its shard
 * gets the slice of what one rank would get.
 *
 * <p>Fans follow the [out, in] convention: fan-in is the product of all sizes but the first, fan-out the first size times
 * the product of all sizes after the second.
 */
@FunctionalInterface
public interface Initializer {
    /**
     * Fills a box of the parameter.
     *
     * @param out the box's array
     * @param region which box of which shape
     * @param seed the key of the generator
     * @param stream the parameter's own stream of the generator
     */
    void fill(NdArray out, Region region, long seed, long stream);

    /** Every element is {@code value}. */
    static Initializer constant(double value) {
        return (out, region, seed, stream) -> out.backend().elementwise().fill(out, value);
    }

    /** Every element is 0. */
    static Initializer zeros() {
        return constant(0);
    }

    /** Every element is 1. */
    static Initializer ones() {
        return constant(1);
    }

    /** Normally distributed. */
    static Initializer normal(double mean, double deviation) {
        return (out, region, seed, stream) -> out.backend().random().normal(out, seed, stream, region, mean, deviation);
    }

    /** Uniform in [low, high). */
    static Initializer uniform(double low, double high) {
        return (out, region, seed, stream) -> out.backend().random().uniform(out, seed, stream, region, low, high);
    }

    /** Uniform within ±gain·sqrt(6 / (fan-in + fan-out)) (Glorot and Bengio, AISTATS 2010). */
    static Initializer xavierUniform(double gain) {
        return (out, region, seed, stream) -> {
            double bound = gain * Math.sqrt(6.0 / (fanIn(region.global()) + fanOut(region.global())));
            uniform(-bound, bound).fill(out, region, seed, stream);
        };
    }

    /** Normal with deviation gain·sqrt(2 / (fan-in + fan-out)) (Glorot and Bengio, AISTATS 2010). */
    static Initializer xavierNormal(double gain) {
        return (out, region, seed, stream) -> {
            double deviation = gain * Math.sqrt(2.0 / (fanIn(region.global()) + fanOut(region.global())));
            normal(0, deviation).fill(out, region, seed, stream);
        };
    }

    /** Uniform within ±gain·sqrt(3 / fan-in) (He et al., arXiv 1502.01852); gain sqrt(2) suits ReLU. */
    static Initializer kaimingUniform(double gain) {
        return (out, region, seed, stream) -> {
            double bound = gain * Math.sqrt(3.0 / fanIn(region.global()));
            uniform(-bound, bound).fill(out, region, seed, stream);
        };
    }

    /** Normal with deviation gain / sqrt(fan-in) (He et al., arXiv 1502.01852); gain sqrt(2) suits ReLU. */
    static Initializer kaimingNormal(double gain) {
        return (out, region, seed, stream) ->
                normal(0, gain / Math.sqrt(fanIn(region.global()))).fill(out, region, seed, stream);
    }

    private static double fanIn(Shape shape) {
        return Math.max(1, shape.product(Math.min(1, shape.dims()), shape.dims()));
    }

    private static double fanOut(Shape shape) {
        return shape.dims() == 0 ? 1 : shape.size(0) * shape.product(Math.min(2, shape.dims()), shape.dims());
    }
}
