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
 * Trains a tensor-parallel MLP on handwritten digits: the model, the plan that shards it, and the training loop. Every rank
 * runs this same code, whether it is a thread, a process, or has a GPU of its own.
 *
 * <pre>{@code
 * one process    scripts/run-mlp.sh --ranks 1
 * N threads      scripts/run-mlp.sh --ranks 4
 * N processes    mpirun -np 4 scripts/run-mlp.sh
 * N nodes        mpirun -np 8 --hostfile hosts scripts/run-mlp.sh
 * on GPUs        mpirun -np 4 scripts/run-mlp.sh --device cuda
 * }</pre>
 *
 * <p>Without the command line around it:
 *
 * <pre>{@code
 * Launch.run(LaunchOptions.defaults().withRanks(2), world -> {
 *     DeviceMesh mesh = DeviceMesh.of(world, "tp");
 *     MlpTraining training = new MlpTraining(mesh, MlpSettings.defaults(), Digits.load());
 *     training.train(TrainingListener.SILENT);
 * });
 * }</pre>
 */
@SuppressWarnings("try") // scopes that are only opened and closed
public final class MlpTraining {
    /** The model: pixels [n, 64] → logits [n, 10]. Written for one rank; nothing in it knows about the others. */
    public static final class Classifier extends Layer {
        private final Linear embed;
        private final Sequential blocks;
        private final LayerNorm norm;
        private final Linear head;

        /**
         * A model without values yet.
         *
         * @param hidden hidden features of each block
         * @param dropout probability of dropping a hidden value
         */
        public Classifier(int hidden, double dropout) {
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

    /** The feed-forward half of a transformer layer: x + down(dropout(gelu(up(norm(x))))). */
    private static final class Block extends Layer {
        private final LayerNorm norm;
        private final Linear up;
        private final Dropout dropout;
        private final Linear down;

        Block(int hidden, double dropout) {
            this.norm = child("norm", new LayerNorm(MlpSettings.WIDTH, 1e-5));
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

    /** The plan: the two wide layers of each block are sharded over the ranks; every rank holds everything else whole. */
    public static final Map<String, ParallelStyle> PLAN = Map.of(
            "blocks.*.up_proj", new ColwiseParallel(), // each rank computes its share of the hidden features
            "blocks.*.down_proj",
                    new RowwiseParallel()); // and their contribution to the output; one all-reduce sums them

    private final DeviceMesh mesh;
    private final MlpSettings settings;
    private final Digits digits;
    private final Classifier model;
    private final AdamW optimizer;

    /** Builds the model, shards it by the plan, and allocates this rank's shards and their optimizer state. Collective. */
    public MlpTraining(DeviceMesh mesh, MlpSettings settings, Digits digits) {
        this.mesh = mesh;
        this.settings = settings;
        this.digits = digits;
        model = new Classifier(settings.hidden(), settings.dropout());
        Parallelize.apply(model, mesh, PLAN);
        model.materialize(mesh.backend(), settings.dtype(), settings.seed());
        long steps = settings.steps(digits.train().size());
        optimizer = new AdamW(
                model,
                AdamW.options()
                        .learningRate(LearningRateSchedule.cosine(settings.learningRate(), 0, steps / 20, steps))
                        .build());
    }

    /** Trains, and measures accuracy after each epoch. Collective. */
    public void train(TrainingListener listener) {
        Batch test = digits.test().whole();
        for (int epoch = 0; epoch < settings.epochs(); epoch++) {
            model.train();
            for (Batch batch : digits.train().batches(settings.batch(), settings.seed(), epoch)) {
                try (Scope scope = Scope.open("step")) { // frees the step's tensors at its end
                    model.beginStep(optimizer.stepCount()); // dropout masks depend on seed and step, not on the rank
                    optimizer.clearGradients();
                    Tensor loss = loss(batch);
                    loss.backward();
                    optimizer.step();
                    listener.step(loss.item(), batch.size());
                }
            }
            listener.epoch(test.accuracy(predict(test)));
        }
    }

    /** Mean cross entropy over the batch, computed in 32 bits or more. Collective. */
    public Tensor loss(Batch batch) {
        Tensor logits = model.apply(batch.pixels(mesh.backend(), settings.dtype()));
        return (logits.dtype().isHalf() ? logits.cast(DType.FLOAT32) : logits)
                .crossEntropy(batch.labels(mesh.backend()));
    }

    /** The digit with the largest logit for each image. Collective. */
    public long[] predict(Batch batch) {
        model.eval();
        try (Scope scope = Scope.open("evaluation");
                GradMode off = GradMode.noGrad()) {
            Tensor logits = model.apply(batch.pixels(mesh.backend(), settings.dtype()));
            return logits.argmax(-1).toLongs();
        }
    }

    /** The model in its current state. */
    public Classifier model() {
        return model;
    }
}
