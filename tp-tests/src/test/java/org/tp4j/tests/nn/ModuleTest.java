package org.tp4j.tests.nn;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tp4j.autograd.Tensors;
import org.tp4j.cpu.CpuBackend;
import org.tp4j.nn.ActivationLayer;
import org.tp4j.nn.Dropout;
import org.tp4j.nn.Embedding;
import org.tp4j.nn.GatedMlp;
import org.tp4j.nn.Initializer;
import org.tp4j.nn.Layer;
import org.tp4j.nn.LayerNorm;
import org.tp4j.nn.Linear;
import org.tp4j.nn.Mlp;
import org.tp4j.nn.Module;
import org.tp4j.nn.ModuleList;
import org.tp4j.nn.Parameter;
import org.tp4j.nn.RmsNorm;
import org.tp4j.nn.Sequential;
import org.tp4j.nn.internal.NamePattern;
import org.tp4j.tensor.Activation;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.ExecutionContext;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.Tensor;

/** Names, paths, hooks, training and evaluation, and how modules print. */
class ModuleTest {
    private static final CpuBackend BACKEND = CpuBackend.get();

    private static Tensor ones() {
        return Tensors.ones(BACKEND, DType.FLOAT32, Shape.of(1, 2));
    }

    private static Sequential model() {
        return new Sequential(
                new LayerNorm(2, 1e-5),
                new Mlp(2, 4, Activation.GELU_TANH, true),
                new Dropout(0.1),
                new GatedMlp(2, 3, Activation.SILU, false));
    }

    /** A module that returns its input. */
    private static class Container extends Layer {
        <M extends Module> Container with(String name, M module) {
            child(name, module);
            return this;
        }

        Container with(Parameter parameter) {
            parameter(parameter);
            return this;
        }

        @Override
        protected Tensor forward(Tensor x) {
            return x;
        }
    }

    @Test
    void shouldNamePartsByDottedPath() {
        Sequential model = model();
        assertThat(model.modules().keySet())
                .containsExactly(
                        "", "0", "1", "1.up_proj", "1.down_proj", "2", "3", "3.gate_proj", "3.up_proj", "3.down_proj");
        assertThat(model.parameters().keySet())
                .containsExactly(
                        "0.weight",
                        "0.bias",
                        "1.up_proj.weight",
                        "1.up_proj.bias",
                        "1.down_proj.weight",
                        "1.down_proj.bias",
                        "3.gate_proj.weight",
                        "3.up_proj.weight",
                        "3.down_proj.weight");
        assertThat(model.modules().get("1.up_proj").path()).isEqualTo("1.up_proj");
        assertThat(model.parameterCount()).isEqualTo(4 + 12 + 10 + 18);
    }

    @Test
    void shouldRenamePathsWhenAModuleBecomesAPart() {
        Mlp mlp = new Mlp(2, 4, Activation.RELU, false);
        Module up = mlp.modules().get("up_proj");
        assertThat(up.path()).isEqualTo("up_proj");
        new Container().with("block", new Container().with("mlp", mlp));
        assertThat(up.path()).isEqualTo("block.mlp.up_proj");
    }

    @Test
    void shouldChooseParametersByPattern() {
        assertThat(model().parameters("*.*.bias").keySet()).containsExactly("1.up_proj.bias", "1.down_proj.bias");
        assertThat(model().parameters("*.up_proj.weight").keySet())
                .containsExactly("1.up_proj.weight", "3.up_proj.weight");
        assertThat(model().parameters("bias")).isEmpty();
        assertThat(NamePattern.of("layers.*").matches("layers")).isFalse();
        assertThat(NamePattern.of("layers.*").matches("layers.1.norm")).isFalse();
        assertThat(NamePattern.of("*").matches("")).isFalse();
        assertThat(NamePattern.of("").matches("")).isTrue();
    }

    @Test
    void shouldRefuseNamesThatWouldNotBeFound() {
        assertThatThrownBy(() -> new Container().with("a.b", new Dropout(0)))
                .hasMessageContaining("'a.b' is not a valid name");
        assertThatThrownBy(() -> new Container().with("", new Dropout(0)))
                .hasMessageContaining("'' is not a valid name");
        assertThatThrownBy(() -> new Container().with("*", new Dropout(0)))
                .hasMessageContaining("'*' is not a valid name");
        assertThatThrownBy(() -> new Container().with("a", new Dropout(0)).with("a", new Dropout(0)))
                .hasMessageContaining("there is a 'a' in Container already");
        Parameter a = new Parameter("a", Shape.of(1), Initializer.zeros());
        assertThatThrownBy(() -> new Container().with(a).with("a", new Dropout(0)))
                .hasMessageContaining("there is a 'a' in Container already");
    }

    @Test
    void shouldRefuseAModuleInTwoPlaces() {
        Linear layer = new Linear(2, 2, true);
        new Container().with("first", layer);
        assertThatThrownBy(() -> new Container().with("second", layer))
                .hasMessageContaining("module 'second' already has a parent, where it is called 'first'")
                .hasMessageContaining("HINT: share parameters, not modules");
    }

    @Test
    void shouldRunHooksInOrderAroundTheComputation() {
        ActivationLayer twice = new ActivationLayer(x -> x.mul(2));
        List<String> seen = new ArrayList<>();
        twice.addInputHook(x -> {
            seen.add("first in");
            return x.add(1);
        });
        Module.Hook second = twice.addInputHook(x -> {
            seen.add("second in");
            return x.mul(10);
        });
        twice.addOutputHook(y -> {
            seen.add("out");
            return y.sub(3);
        });
        assertThat(twice.apply(ones()).toFloats()).containsOnly(2 * (1 + 1) * 10 - 3);
        assertThat(seen).containsExactly("first in", "second in", "out");
        second.remove();
        second.remove();
        assertThat(twice.apply(ones()).toFloats()).containsOnly(2 * (1 + 1) - 3);
    }

    @Test
    void shouldSayWhichModuleRuns() {
        List<String> paths = new ArrayList<>();
        Layer inner = new ActivationLayer(x -> {
            paths.add(ExecutionContext.current().modulePath());
            return x;
        });
        Sequential model = new Sequential(new ActivationLayer(Tensor::relu), new Sequential(inner));
        model.apply(ones());
        assertThat(paths).containsExactly("1.0");
        assertThat(ExecutionContext.current().modulePath()).isEmpty();
        Sequential failing = new Sequential(new ActivationLayer(x -> x.reshape(7)));
        assertThatThrownBy(() -> failing.apply(ones())).isInstanceOf(IllegalArgumentException.class);
        assertThat(ExecutionContext.current().modulePath()).isEmpty();
    }

    @Test
    void shouldSwitchAllPartsBetweenTrainingAndEvaluation() {
        Sequential model = model();
        Layer dropout = (Layer) model.modules().get("2");
        assertThat(dropout.isTraining()).isTrue();
        model.eval();
        assertThat(dropout.isTraining()).isFalse();
        assertThat(dropout.apply(ones()).toFloats()).containsOnly(1);
        model.train();
        assertThat(dropout.isTraining()).isTrue();
        assertThat(model.isTraining()).isTrue();
    }

    @Test
    void shouldPrintAsATree() {
        assertThat(model()).hasToString("""
                        Sequential()
                          0: LayerNorm(2, eps 1.0E-5)
                          1: Mlp(gelu_tanh)
                            up_proj: Linear(2 -> 4)
                            down_proj: Linear(4 -> 2)
                          2: Dropout(p 0.1)
                          3: GatedMlp(silu)
                            gate_proj: Linear(2 -> 3, no bias)
                            up_proj: Linear(2 -> 3, no bias)
                            down_proj: Linear(3 -> 2, no bias)
                        """);
        assertThat(new Embedding(7, 2, Initializer.zeros(), -1)).hasToString("Embedding(7 x 2, padding id -1)\n");
        assertThat(new RmsNorm(8, 1e-6)).hasToString("RmsNorm(8, eps 1.0E-6)\n");
    }

    @Test
    void shouldListModulesThatTheirOwnerCalls() {
        ModuleList<Linear> list = new ModuleList<>(List.of(new Linear(1, 2, false), new Linear(2, 3, false)));
        assertThat(list).extracting(Linear::out).containsExactly(2L, 3L);
        assertThat(list.size()).isEqualTo(2);
        assertThat(list.get(1).path()).isEqualTo("1");
        new Container().with("layers", list);
        assertThat(list.get(1).path()).isEqualTo("layers.1");
    }

    @Test
    void shouldFreezeParameters() {
        Mlp mlp = new Mlp(2, 4, Activation.RELU, true);
        mlp.parameters("up_proj.*").values().forEach(parameter -> parameter.setTrainable(false));
        mlp.materialize(BACKEND, DType.FLOAT32, 1);
        mlp.parameters().get("down_proj.bias").setTrainable(false);
        mlp.apply(ones()).sum().backward();
        assertThat(org.tp4j.nn.Gradients.of(mlp).keySet()).containsExactly("down_proj.weight");
        mlp.clearGradients();
        assertThat(org.tp4j.nn.Gradients.of(mlp)).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(doubles = {-1e-5, Double.NaN, Double.POSITIVE_INFINITY})
    void shouldRefuseAnEpsThatIsNoNumberOfItsKind(double eps) {
        assertThatThrownBy(() -> new LayerNorm(4, eps))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("eps of LayerNorm must be finite and at least 0, was " + eps + "; HINT: 1e-5 is usual");
        assertThatThrownBy(() -> new RmsNorm(4, eps))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("eps of RmsNorm must be finite and at least 0, was " + eps + "; HINT: 1e-5 is usual");
    }

    @Test
    void shouldRefuseAProbabilityOfOne() {
        assertThatThrownBy(() -> new Dropout(1)).hasMessageContaining("at least 0 and below 1, was 1.0");
        assertThatThrownBy(() -> new Dropout(Double.NaN)).hasMessageContaining("NaN");
    }
}
