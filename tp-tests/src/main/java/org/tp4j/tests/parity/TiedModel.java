package org.tp4j.tests.parity;

import org.tp4j.nn.Embedding;
import org.tp4j.nn.Initializer;
import org.tp4j.nn.Layer;
import org.tp4j.nn.LayerNorm;
import org.tp4j.nn.Linear;
import org.tp4j.nn.Mlp;
import org.tp4j.op.internal.GatherRowsOp;
import org.tp4j.tensor.Activation;
import org.tp4j.tensor.Tensor;

/** Embedding, one residual MLP, norm, and a head that shares the embedding's table. */
final class TiedModel extends Layer {
    private static final double NORM_EPS = 1e-5;

    private final Embedding embedding;
    private final Mlp mlp;
    private final LayerNorm norm;
    private final Linear head;

    TiedModel(long vocabulary, long features) {
        embedding = child(
                "embedding", new Embedding(vocabulary, features, Initializer.normal(0, 0.5), GatherRowsOp.NO_PADDING));
        mlp = child("mlp", new Mlp(features, 2 * features, Activation.GELU_TANH, true));
        norm = child("norm", new LayerNorm(features, NORM_EPS));
        head = child("head", new Linear(embedding.weight()));
    }

    @Override
    protected Tensor forward(Tensor ids) {
        Tensor x = embedding.apply(ids);
        return head.apply(norm.apply(x.add(mlp.apply(x))));
    }
}
