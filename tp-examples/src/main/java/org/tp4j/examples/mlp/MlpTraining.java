package org.tp4j.examples.mlp;

import java.util.Map;
import org.tp4j.examples.mlp.Digits.Batch;
import org.tp4j.mesh.DeviceMesh;
import org.tp4j.nn.Dropout;
import org.tp4j.nn.Layer;
import org.tp4j.nn.LayerNorm;
import org.tp4j.nn.Linear;
import org.tp4j.nn.Sequential;
import org.tp4j.optim.AdamW;
import org.tp4j.optim.LearningRateSchedule;
import org.tp4j.parallel.ColwiseParallel;
import org.tp4j.parallel.ParallelStyle;
import org.tp4j.parallel.Parallelize;
import org.tp4j.parallel.RowwiseParallel;
import org.tp4j.tensor.Activation;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.GradMode;
import org.tp4j.tensor.Scope;
import org.tp4j.tensor.Tensor;

/**
 * Model, plan and training loop of the example: the program that every rank runs, whether it is a thread, a process under
 * mpirun, or has a GPU of its own. Nothing in the model knows of ranks; the plan alone splits it.
 */
@SuppressWarnings("try") // scopes that only own
final class MlpTraining {
    /** The two wide layers of each block are split over the ranks; everything else is whole on each. */
    static final Map<String, ParallelStyle> PLAN = Map.of(
            "blocks.*.up_proj", new ColwiseParallel(), // each rank computes its share of the hidden features
            "blocks.*.down_proj", new RowwiseParallel()); // and their contribution to the output, summed over the ranks

    /** The feed-forward half of a transformer layer: x + down(dropout(gelu(up(norm(x))))). */
    static final class Block extends Layer {
        private final LayerNorm norm = child("norm", new LayerNorm(MlpSettings.WIDTH, 1e-5));
        private final Linear up;
        private final Dropout dropout;
        private final Linear down;

        Block(int hidden, double dropout) {
            this.up = child("up_proj", new Linear(MlpSettings.WIDTH, hidden, true));
            this.dropout = child("dropout", new Dropout(dropout));
            this.down = child("down_proj", new Linear(hidden, MlpSettings.WIDTH, true));
        }

        @Override
        protected Tensor forward(Tensor x) {
            Tensor hidden = up.applyActivated(norm.apply(x), Activation.GELU);
            return x.add(down.apply(dropout.apply(hidden)));
        }
    }

    /** Pixels [n, 64] → logits [n, 10]. */
    static final class Classifier extends Layer {
        private final Linear embed;
        private final Sequential blocks;
        private final LayerNorm norm;
        private final Linear head;

        Classifier(int hidden, double dropout) {
            embed = child("embed", new Linear(Digits.PIXELS, MlpSettings.WIDTH, true));
            blocks = child("blocks", new Sequential(new Block(hidden, dropout), new Block(hidden, dropout)));
            norm = child("norm", new LayerNorm(MlpSettings.WIDTH, 1e-5));
            head = child("head", new Linear(MlpSettings.WIDTH, Digits.CLASSES, true));
        }

        @Override
        protected Tensor forward(Tensor pixels) {
            return head.apply(norm.apply(blocks.apply(embed.apply(pixels))));
        }
    }

    private final DeviceMesh mesh;
    private final MlpSettings settings;
    private final Digits digits;
    private final Classifier model;
    private final AdamW optimizer;

    MlpTraining(DeviceMesh mesh, MlpSettings settings, Digits digits) {
        this.mesh = mesh;
        this.settings = settings;
        this.digits = digits;
        model = new Classifier(settings.hidden(), settings.dropout());
        Parallelize.apply(model, mesh, PLAN);
        model.materialize(mesh.backend(), settings.dtype(), settings.seed()); // each rank allocates its shards alone
        long steps = settings.steps(digits.train().size());
        optimizer = new AdamW(
                model,
                AdamW.options()
                        .learningRate(LearningRateSchedule.cosine(settings.learningRate(), 0, steps / 20, steps))
                        .build());
    }

    /** Trains, and measures accuracy after each epoch. */
    TrainingResult train(TrainingListener listener) {
        Batch test = digits.test().whole();
        TrainingResult.Recorder recorder = new TrainingResult.Recorder(listener);
        for (int epoch = 0; epoch < settings.epochs(); epoch++) {
            model.train();
            for (Batch batch : digits.train().batches(settings.batch(), settings.seed(), epoch)) {
                try (Scope scope = Scope.open("step")) {
                    model.beginStep(optimizer.stepCount());
                    optimizer.clearGradients();
                    Tensor loss = loss(batch);
                    loss.backward();
                    optimizer.step();
                    recorder.step(loss.item(), batch.size());
                }
            }
            recorder.epoch(test.shareOfHits(predict(test)));
        }
        return recorder.result();
    }

    /** Cross entropy, never in 16 bits. */
    Tensor loss(Batch batch) {
        Tensor logits = model.apply(batch.pixels(mesh.backend(), settings.dtype()));
        return (logits.dtype().isHalf() ? logits.cast(DType.FLOAT32) : logits)
                .crossEntropy(batch.labels(mesh.backend()));
    }

    /** The digits whose logits are largest. */
    long[] predict(Batch batch) {
        model.eval();
        try (Scope scope = Scope.open("evaluation");
                GradMode off = GradMode.noGrad()) {
            Tensor logits = model.apply(batch.pixels(mesh.backend(), settings.dtype()));
            return logits.argmax(-1).toLongs();
        }
    }

    Classifier model() {
        return model;
    }

    DeviceMesh mesh() {
        return mesh;
    }

    Batch firstBatch() {
        return digits.train().batches(settings.batch(), settings.seed(), 0).get(0);
    }
}
