package org.tp4j.tests.parity;

import org.tp4j.autograd.Tensors;
import org.tp4j.tensor.Backend;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.Tensor;

/** What a model is trained on: a fixed batch of data drawn at random, and the loss. */
public enum Task {
    /** Rows of numbers to rows of the same size, mean squared error; the input gets a gradient. */
    REGRESSION {
        @Override
        Tensor input(Backend backend, DType dtype) {
            return normal(backend, dtype, 1).requiresGrad(true);
        }

        @Override
        Tensor target(Backend backend, DType dtype) {
            return normal(backend, dtype, 2);
        }

        @Override
        Tensor loss(Tensor output, Tensor target) {
            return output.sub(target).square().mean();
        }
    },

    /** Ids to logits over the vocabulary, cross entropy. */
    NEXT_TOKEN {
        @Override
        Tensor input(Backend backend, DType dtype) {
            return ids(backend, 0);
        }

        @Override
        Tensor target(Backend backend, DType dtype) {
            return ids(backend, 1);
        }

        @Override
        Tensor loss(Tensor output, Tensor target) {
            return output.crossEntropy(target);
        }
    };

    /** Size of a row. */
    static final long FEATURES = 12;

    /** Number of ids. */
    static final long VOCABULARY = 19; // no number of ranks above 1 divides it

    private static final long BATCH = 3;
    private static final long SEQUENCE = 5; // 2, 3 and 4 ranks cut it unevenly
    private static final long SEED = 7;

    abstract Tensor input(Backend backend, DType dtype);

    abstract Tensor target(Backend backend, DType dtype);

    abstract Tensor loss(Tensor output, Tensor target);

    private static Tensor normal(Backend backend, DType dtype, long stream) {
        return Tensors.normal(backend, dtype, Shape.of(BATCH, SEQUENCE, FEATURES), 0, 1, SEED, stream);
    }

    private static Tensor ids(Backend backend, long shift) {
        long[] ids = new long[(int) (BATCH * SEQUENCE)];
        for (int i = 0; i < ids.length; i++) {
            ids[i] = (i + shift) * (i + shift) * 5 % VOCABULARY; // some come several times
        }
        return Tensors.of(backend, ids, BATCH, SEQUENCE);
    }
}
