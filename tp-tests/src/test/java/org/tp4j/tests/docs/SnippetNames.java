package org.tp4j.tests.docs;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.tp4j.comm.World;
import org.tp4j.mesh.DeviceMesh;
import org.tp4j.nn.Layer;
import org.tp4j.nn.Mlp;
import org.tp4j.nn.Module;
import org.tp4j.optim.AdamW;
import org.tp4j.optim.Optimizer;
import org.tp4j.parallel.ParallelStyle;
import org.tp4j.tensor.Activation;
import org.tp4j.tensor.Backend;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Tensor;

/** The names that snippets in Javadoc use without saying where they come from. Snippets are compiled, never run. */
@SuppressWarnings({"unused", "NullAway"})
abstract class SnippetNames {
    World world;
    Backend backend;
    DeviceMesh mesh;
    Map<String, ParallelStyle> plan;
    Layer model = new Mlp(8, 16, Activation.GELU, true);
    Optimizer optimizer = new AdamW(model, 1e-3);

    Tensor x;
    Tensor w1;
    Tensor b1;
    Tensor w2;
    Tensor b2;
    Tensor labels;
    Tensor mask;
    Tensor positions;
    Tensor loss;
    Tensor lossValue;
    NdArray weight;
    ByteBuffer stepBytes;
    Path path;
    double accuracy;

    long n;
    long seed;
    long stream;
    long tokens;
    long width;

    int rank;
    int ranks;
    byte[] bytesFromRank0;
    long in;
    long out;
    long count;

    List<Batch> batches;
    List<Block> blocks;

    /** A batch defined by a user. */
    record Batch(Tensor x, Tensor labels) {
        void copyInto(Tensor x, Tensor labels) {}
    }

    /** A layer defined by a user. */
    abstract static class Block extends Layer {}

    <M extends Module> M child(String name, M module) {
        return module;
    }

    Tensor forward(Tensor x, @Nullable Tensor mask) {
        return x;
    }

    double evaluate(Layer model) {
        return 0;
    }
}
