package org.tp4j.tests.nn;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.tp4j.autograd.Tensors;
import org.tp4j.cpu.CpuBackend;
import org.tp4j.layout.DTensor;
import org.tp4j.mesh.DeviceMesh;
import org.tp4j.nn.Layer;
import org.tp4j.nn.Linear;
import org.tp4j.nn.Mlp;
import org.tp4j.nn.RmsNorm;
import org.tp4j.parallel.ColwiseParallel;
import org.tp4j.parallel.Parallelize;
import org.tp4j.parallel.RowwiseParallel;
import org.tp4j.tensor.Activation;
import org.tp4j.tensor.Backend;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.Tensor;
import org.tp4j.tests.Cases;
import org.tp4j.threads.ThreadRanks;

/** State by name: all or nothing is loaded. Case A34, with tensors where it has files. */
class StateTest {
    private static final Cases CASE = Cases.of("A34");

    /** a.weight [2, 2] and b.weight [2]. */
    private static final class Model extends Layer {
        Model() {
            child("a", new Linear(2, 2, false));
            child("b", new RmsNorm(2, 1e-6));
        }

        @Override
        protected Tensor forward(Tensor x) {
            return x;
        }
    }

    static Stream<Arguments> misfits() {
        return StreamSupport.stream(CASE.at("files").spliterator(), false)
                .flatMap(file ->
                        Stream.of(1, 2).map(t -> Arguments.of(file.get("name").asText(), t, file)));
    }

    private static Map<String, Tensor> goodState(Backend backend) {
        Map<String, Tensor> state = new HashMap<>();
        CASE.at("model")
                .fieldNames()
                .forEachRemaining(name -> state.put(name, CASE.tensor(backend, DType.FLOAT32, "model/" + name)));
        return state;
    }

    private static Map<String, Tensor> read(JsonNode file, Backend backend) {
        Map<String, Tensor> state = new LinkedHashMap<>();
        file.get("tensors").fields().forEachRemaining(entry -> {
            long[] sizes = new long[entry.getValue().size()];
            for (int d = 0; d < sizes.length; d++) {
                sizes[d] = entry.getValue().get(d).asLong();
            }
            boolean integers = entry.getKey().startsWith("b") && file.has("dtype_of_b");
            state.put(
                    entry.getKey(), Tensors.full(backend, integers ? DType.INT64 : DType.FLOAT32, Shape.of(sizes), 77));
        });
        return state;
    }

    @ParameterizedTest(name = "{0}, T = {1}")
    @MethodSource("misfits")
    void shouldListEverythingThatDoesNotFitAndChangeNothing(String name, int ranks, JsonNode file) {
        ThreadRanks.run(ranks, world -> {
            Model model =
                    Parallelize.apply(new Model(), DeviceMesh.of(world, "tp"), Map.of("a", new ColwiseParallel()));
            model.materialize(world.backend(), DType.FLOAT32, 1);
            model.loadState(goodState(world.backend()));
            Map<String, Tensor> bad = read(file, world.backend());
            var refused = assertThatThrownBy(() -> model.loadState(bad))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("nothing was changed");
            file.get("names_in_message").forEach(word -> refused.hasMessageContaining(word.asText()));
            model.state().forEach((n, tensor) -> CASE.assertIs("model/" + n, tensor));
        });
    }

    private static Mlp mlp(Backend backend, long seed) {
        Mlp mlp = new Mlp(3, 5, Activation.GELU, true);
        mlp.materialize(backend, DType.FLOAT64, seed);
        return mlp;
    }

    @Test
    void shouldLoadWhatAnotherModelHolds() {
        ThreadRanks.run(3, world -> {
            DeviceMesh mesh = DeviceMesh.of(world, "tp");
            Mlp plain = mlp(world.backend(), 1);
            Mlp columns = Parallelize.apply(
                    mlp(world.backend(), 2),
                    mesh,
                    Map.of("up_proj", new ColwiseParallel(), "down_proj", new RowwiseParallel()));
            Mlp rows = Parallelize.apply(
                    mlp(world.backend(), 3),
                    mesh,
                    Map.of("up_proj", new RowwiseParallel(), "down_proj", new ColwiseParallel()));
            columns.loadState(plain.state()); // whole to shards
            rows.loadState(columns.state()); // shards to other shards
            Mlp back = mlp(world.backend(), 4);
            back.loadState(rows.state()); // shards to whole
            plain.state().forEach((name, tensor) -> {
                assertThat(back.state().get(name).local().toDoubles())
                        .as(name)
                        .containsExactly(tensor.local().toDoubles());
                assertThat(((DTensor) rows.state().get(name)).fullTensor().toDoubles())
                        .as(name)
                        .containsExactly(tensor.local().toDoubles());
            });
        });
    }

    @Test
    void shouldConvertFloats() {
        Mlp mlp = mlp(CpuBackend.get(), 1);
        Map<String, Tensor> halves = new HashMap<>();
        mlp.state().forEach((name, tensor) -> halves.put(name, tensor.detach().cast(DType.BFLOAT16)));
        Mlp other = mlp(CpuBackend.get(), 2);
        other.loadState(halves);
        halves.forEach(
                (name, half) -> assertThat(other.state().get(name).local().toDoubles())
                        .as(name)
                        .containsExactly(half.local().toDoubles()));
        assertThat(other.state().get("up_proj.weight").dtype()).isEqualTo(DType.FLOAT64);
    }

    @Test
    void shouldSayThatAModelHasNoValuesYet() {
        Mlp mlp = new Mlp(3, 5, Activation.GELU, true);
        assertThatThrownBy(mlp::state)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("'weight' [5, 3] has no values yet; HINT: call model.materialize");
    }

    @Test
    void shouldCountAChangeOfValuesSoThatAStaleGradientIsRefused() {
        Mlp mlp = mlp(CpuBackend.get(), 1);
        Tensor x = Tensors.ones(CpuBackend.get(), DType.FLOAT64, Shape.of(1, 3)).requiresGrad(true);
        Tensor loss = mlp.apply(x).sum();
        mlp.loadState(mlp(CpuBackend.get(), 2).state());
        assertThatThrownBy(loss::backward)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("changed");
    }
}
