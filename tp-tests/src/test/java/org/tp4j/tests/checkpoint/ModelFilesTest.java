package org.tp4j.tests.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.tp4j.autograd.Tensors;
import org.tp4j.checkpoint.ModelFiles;
import org.tp4j.checkpoint.SafetensorsException;
import org.tp4j.checkpoint.SafetensorsFile;
import org.tp4j.checkpoint.SafetensorsWriter;
import org.tp4j.comm.CommunicationException;
import org.tp4j.comm.World;
import org.tp4j.cpu.CpuBackend;
import org.tp4j.layout.LayoutException;
import org.tp4j.layout.Placement;
import org.tp4j.mesh.DeviceMesh;
import org.tp4j.nn.Embedding;
import org.tp4j.nn.Layer;
import org.tp4j.nn.Linear;
import org.tp4j.nn.Mlp;
import org.tp4j.parallel.ColwiseParallel;
import org.tp4j.parallel.Parallelize;
import org.tp4j.parallel.RowwiseParallel;
import org.tp4j.tensor.Activation;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.Tensor;
import org.tp4j.tests.parallel.ParameterValues;
import org.tp4j.threads.ThreadRanks;

/** Models saved from any number of ranks and loaded on any other. */
class ModelFilesTest {
    private static final CpuBackend CPU = CpuBackend.get();

    @TempDir
    Path folder;

    /** Embedding and output layer share one weight; uneven on 2 and 3 ranks. */
    private static final class Tied extends Layer {
        private final Embedding embed = child("embed", new Embedding(7, 4));
        private final Mlp mlp = child("mlp", new Mlp(4, 10, Activation.GELU, true));
        private final Linear head = child("head", new Linear(embed.weight()));

        @Override
        protected Tensor forward(Tensor ids) {
            return head.apply(mlp.apply(embed.apply(ids)));
        }
    }

    private static Tied model(World world, DType dtype, long seed) {
        Tied model = Parallelize.apply(
                new Tied(),
                DeviceMesh.of(world, "tp"),
                Map.of(
                        "embed", new RowwiseParallel(),
                        "head", new ColwiseParallel().withOutput(Placement.invariant()),
                        "mlp.up_proj", new ColwiseParallel(),
                        "mlp.down_proj", new RowwiseParallel()));
        model.materialize(world.backend(), dtype, seed);
        return model;
    }

    private Path file() {
        return folder.resolve("model.safetensors");
    }

    @ParameterizedTest
    @CsvSource({"1, 1", "1, 3", "2, 1", "3, 2"})
    void shouldLoadOnAnyNumberOfRanks(int before, int after) {
        Map<String, double[]> expected = ThreadRanks.call(before, world -> {
                    Tied model = model(world, DType.FLOAT32, 1);
                    ModelFiles.save(model, file());
                    assertThat(file()).exists(); // on every rank, once it returns
                    return ParameterValues.of(model);
                })
                .get(0);
        try (SafetensorsFile file = SafetensorsFile.open(file())) {
            assertThat(file.names()).containsExactlyInAnyOrderElementsOf(expected.keySet());
            assertThat(file.entry("embed.weight").shape()).isEqualTo(Shape.of(7, 4));
        }
        ThreadRanks.run(after, world -> {
            Tied model = model(world, DType.FLOAT32, 2);
            assertThat(ParameterValues.of(model).get("embed.weight")).isNotEqualTo(expected.get("embed.weight"));
            ModelFiles.load(model, file());
            ParameterValues.of(model)
                    .forEach((name, values) -> assertThat(values).as(name).isEqualTo(expected.get(name)));
            Tied wide = model(world, DType.FLOAT64, 3); // converted
            ModelFiles.load(wide, file());
            ParameterValues.of(wide)
                    .forEach((name, values) -> assertThat(values).as(name).isEqualTo(expected.get(name)));
        });
    }

    private void writeTied(String... names) {
        Tied model = new Tied();
        model.materialize(CPU, DType.FLOAT32, 1);
        SafetensorsWriter writer = new SafetensorsWriter(file());
        model.state().forEach((name, tensor) -> {
            if (!name.equals("embed.weight")) {
                writer.add(name, tensor);
            }
        });
        for (String name : names) {
            writer.add(name, model.embed.weight().tensor());
        }
        writer.write();
    }

    @Test
    void shouldFindATiedParameterUnderItsOtherName() {
        writeTied("head.weight");
        Tied model = new Tied();
        model.materialize(CPU, DType.FLOAT32, 2);
        assertThat(model.aliases()).containsExactly(Map.entry("head.weight", "embed.weight"));
        ModelFiles.load(model, file());
        Tied same = new Tied();
        same.materialize(CPU, DType.FLOAT32, 1);
        assertThat(ParameterValues.of(model).get("embed.weight"))
                .isEqualTo(ParameterValues.of(same).get("embed.weight"));
        model.loadState(Map.of(
                "head.weight", Tensors.zeros(CPU, DType.FLOAT32, Shape.of(7, 4)),
                "mlp.up_proj.weight",
                        same.mlp.parameters().get("up_proj.weight").tensor(),
                "mlp.up_proj.bias", same.mlp.parameters().get("up_proj.bias").tensor(),
                "mlp.down_proj.weight",
                        same.mlp.parameters().get("down_proj.weight").tensor(),
                "mlp.down_proj.bias",
                        same.mlp.parameters().get("down_proj.bias").tensor()));
        assertThat(ParameterValues.of(model).get("embed.weight")).containsOnly(0);
    }

    @Test
    void shouldListEverythingThatDoesNotFitAndChangeNothing() {
        new SafetensorsWriter(file())
                .add("embed.weight", Tensors.zeros(CPU, DType.FLOAT32, Shape.of(7, 4)))
                .add("head.weight", Tensors.zeros(CPU, DType.FLOAT32, Shape.of(7, 4)))
                .add("mlp.up_proj.weight", Tensors.zeros(CPU, DType.FLOAT32, Shape.of(4, 10)))
                .add("mlp.up_proj.bias", Tensors.zeros(CPU, DType.INT32, Shape.of(10)))
                .add("mlp.up.bias", Tensors.zeros(CPU, DType.FLOAT32, Shape.of(10)))
                .add("mlp.down_proj.weight", Tensors.zeros(CPU, DType.FLOAT32, Shape.of(4, 10)))
                .write();
        ThreadRanks.run(2, world -> {
            Tied model = model(world, DType.FLOAT32, 1);
            Map<String, double[]> before = ParameterValues.of(model);
            assertThatThrownBy(() -> ModelFiles.load(model, file()))
                    .isInstanceOf(SafetensorsException.class)
                    .hasMessageContaining("does not fit the model, nothing was changed:")
                    .hasMessageContaining("held twice: 'embed.weight' and 'head.weight' are one tied parameter")
                    .hasMessageContaining("shape of 'mlp.up_proj.weight': [10, 4] expected, [4, 10] in the file")
                    .hasMessageContaining("type of 'mlp.up_proj.bias': float32 expected, I32 in the file")
                    .hasMessageContaining("unknown: 'mlp.up.bias' [10]")
                    .hasMessageContaining("missing: 'mlp.down_proj.bias' [4]")
                    .hasMessageContaining("HINT: the model's names are those of parameters() and aliases()");
            ParameterValues.of(model)
                    .forEach((name, values) -> assertThat(values).as(name).isEqualTo(before.get(name)));
        });
    }

    @Test
    void shouldTellEveryRankThatTheFileCouldNotBeWritten() {
        Path nowhere = folder.resolve("no/such.safetensors");
        ThreadRanks.run(
                3,
                world -> assertThatThrownBy(() -> ModelFiles.save(model(world, DType.FLOAT32, 1), nowhere))
                        .isInstanceOf(world.rank() == 0 ? SafetensorsException.class : CommunicationException.class)
                        .hasMessageContaining(nowhere.toString())
                        .hasMessageContaining("HINT: "));
        assertThat(Files.exists(nowhere)).isFalse();
    }

    @Test
    void shouldRefuseAShardUnderTheNameOfTheWhole() {
        ThreadRanks.run(2, world -> {
            Tensor shard = model(world, DType.FLOAT32, 1)
                    .mlp
                    .parameters()
                    .get("up_proj.weight")
                    .tensor();
            assertThatThrownBy(() -> new SafetensorsWriter(file()).add("w", shard))
                    .isInstanceOf(LayoutException.class)
                    .hasMessage(
                            "tensor 'w' [10, 4] is laid out [tp: Shard(0)], so this rank has only [5, 4] of it; HINT:"
                                    + " ModelFiles.save(model, file) gathers a model's tensors, fullTensor() one");
        });
    }
}
