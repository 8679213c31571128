package org.tp4j.tests.parallel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.tp4j.autograd.Tensors;
import org.tp4j.comm.engine.FakeGroup;
import org.tp4j.layout.LayoutException;
import org.tp4j.layout.Placement;
import org.tp4j.mesh.DeviceMesh;
import org.tp4j.nn.Embedding;
import org.tp4j.nn.GatedMlp;
import org.tp4j.nn.Layer;
import org.tp4j.nn.LayerNorm;
import org.tp4j.nn.Linear;
import org.tp4j.nn.Mlp;
import org.tp4j.nn.Module;
import org.tp4j.nn.ModuleList;
import org.tp4j.nn.RmsNorm;
import org.tp4j.parallel.ColumnParallelLinear;
import org.tp4j.parallel.ColwiseParallel;
import org.tp4j.parallel.MeshAxis;
import org.tp4j.parallel.ParallelStyle;
import org.tp4j.parallel.Parallelize;
import org.tp4j.parallel.PlanException;
import org.tp4j.parallel.PrepareModuleInput;
import org.tp4j.parallel.PrepareModuleOutput;
import org.tp4j.parallel.RowwiseParallel;
import org.tp4j.parallel.SequenceParallel;
import org.tp4j.tensor.Activation;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.Tensor;
import org.tp4j.tensor.meta.MetaBackend;
import org.tp4j.tests.Cases;
import org.tp4j.threads.ThreadRanks;

/** Plans are strict: everything that does not fit is reported at once, and the model stays as it was. Case A38 among them. */
class PlanTest {
    private static final Cases CASE = Cases.of("A38");

    /** A module that computes nothing. */
    private static final class Tree extends Layer {
        private Tree add(String path, Module leaf) {
            int dot = path.indexOf('.');
            if (dot < 0) {
                child(path, leaf);
            } else {
                String first = path.substring(0, dot);
                Tree next = children().containsKey(first) ? (Tree) children().get(first) : child(first, new Tree());
                next.add(path.substring(dot + 1), leaf);
            }
            return this;
        }

        @Override
        protected Tensor forward(Tensor x) {
            return x;
        }
    }

    private static DeviceMesh mesh(int ranks) {
        return DeviceMesh.of(new FakeGroup(0, ranks), MetaBackend.get(), List.of(Map.entry("tp", ranks)));
    }

    private static Tree caseModel() {
        Tree tree = new Tree();
        CASE.at("modules").forEach(name -> {
            String path = name.asText();
            Layer leaf = path.equals("embed")
                    ? new Embedding(8, 4)
                    : path.endsWith("norm") ? new RmsNorm(4, 1e-6) : new Linear(4, 4, false);
            tree.add(path, leaf);
        });
        return tree;
    }

    private static Set<String> sharded(Layer model) {
        Set<String> names = new TreeSet<>();
        model.modules()
                .forEach((path, module) -> module.ownParameters().values().forEach(parameter -> {
                    if (parameter.layout() != null && parameter.layout().placement(0) instanceof Placement.Shard) {
                        names.add(path);
                    }
                }));
        return names;
    }

    private static void assertUntouched(Layer model) {
        model.modules().forEach((path, module) -> {
            assertThat(module.splits()).as(path).isEmpty();
            module.ownParameters().forEach((name, parameter) -> {
                assertThat(parameter.layout()).as(path + "." + name).isNull();
                assertThat(parameter.placements()).as(path + "." + name).isZero();
            });
        });
    }

    private static PlanException refused(Layer model, int ranks, Map<String, ? extends ParallelStyle> plan) {
        PlanException refused =
                catchThrowableOfType(PlanException.class, () -> Parallelize.apply(model, mesh(ranks), plan));
        assertThat(refused).isNotNull().hasMessageContaining("nothing was changed");
        return refused;
    }

    static Stream<JsonNode> plans() {
        return StreamSupport.stream(CASE.at("plans").spliterator(), false);
    }

    @ParameterizedTest
    @MethodSource("plans")
    void shouldMatchWholeSegmentsAndReportWhatMatchesNothingOrTwice(JsonNode entry) {
        Map<String, ParallelStyle> plan = new LinkedHashMap<>();
        entry.get("plan")
                .fields()
                .forEachRemaining(e -> plan.put(
                        e.getKey(),
                        e.getValue().asText().equals("column") ? new ColwiseParallel() : new RowwiseParallel()));
        Tree model = caseModel();
        if (entry.get("expect").asText().equals("sharded")) {
            Parallelize.apply(model, mesh(2), plan);
            Set<String> expected = new TreeSet<>();
            entry.get("sharded").forEach(name -> expected.add(name.asText()));
            assertThat(sharded(model)).isEqualTo(expected);
        } else if (plan.isEmpty()) {
            Parallelize.apply(model, mesh(2), plan); // documented: every parameter is whole on every rank
            assertThat(sharded(model)).isEmpty();
        } else {
            PlanException refused = refused(model, 2, plan);
            entry.get("names_in_message")
                    .forEach(name -> assertThat(refused).hasMessageContaining("'" + name.asText() + "'"));
            assertUntouched(model);
        }
    }

    @Test
    void shouldNameTheNearestModuleForAKeyThatMatchesNothing() {
        assertThat(refused(caseModel(), 2, Map.of("layers.0.qq", new ColwiseParallel()))
                        .problems())
                .containsExactly("key 'layers.0.qq' matches no module; HINT: the nearest name is 'layers.0.q', and *"
                        + " stands for one segment");
    }

    @Test
    void shouldReportEverythingThatIsWrongAtOnce() {
        Tree model = caseModel();
        model.add("mlp", new Mlp(4, 10, Activation.GELU, true));
        Map<String, ParallelStyle> plan = Map.of(
                "layers.*.q", new ColwiseParallel(),
                "layers.0.*", new SequenceParallel(),
                "layer.1.o", new RowwiseParallel(),
                "layers.1.norm", new ColwiseParallel(),
                "mlp.up_proj", new ColwiseParallel().withUnit(4),
                "mlp", new RowwiseParallel());
        List<String> problems = refused(model, 2, plan).problems();
        assertThat(problems).hasSize(5);
        assertThat(problems.get(0)).startsWith("key 'layer.1.o' matches no module");
        assertThat(problems.get(1))
                .startsWith("module 'layers.0.q' is matched by two keys, 'layers.*.q' and 'layers.0.*'");
        assertThat(problems)
                .anySatisfy(problem -> assertThat(problem)
                        .isEqualTo("'layers.1.norm' is a RmsNorm, but ColwiseParallel splits Linear and Embedding"))
                .anySatisfy(problem -> assertThat(problem)
                        .isEqualTo("'mlp' is a Mlp, but RowwiseParallel splits Linear and Embedding; HINT: name one of"
                                + " its parts [up_proj, down_proj]"))
                .anySatisfy(problem -> assertThat(problem)
                        .isEqualTo("'mlp.up_proj': the output has size 10, which is not whole units of 4 to cut for 2"
                                + " ranks; HINT: the nearest sizes that work are 8 and 12"));
        assertUntouched(model);
    }

    @Test
    void shouldNameTheModuleWithoutAStyle() {
        Tree model = caseModel();
        Map<String, ParallelStyle> plan = new HashMap<>();
        plan.put("layers.0.q", null);
        assertThat(refused(model, 2, plan).problems())
                .containsExactly(
                        "module 'layers.0.q' has no style: key 'layers.0.q' is mapped to null; HINT: take the key out"
                                + " of the plan, or give it a style");
        assertUntouched(model);
    }

    @Test
    void shouldRefuseDimensionsThatNoActivationHas() {
        Placement seven = Placement.shard(7);
        Placement minusSeven = Placement.shard(-7);
        for (ParallelStyle style : List.of(
                new ColwiseParallel().withOutput(seven),
                new ColwiseParallel().withInput(minusSeven),
                new RowwiseParallel().withOutput(seven),
                new RowwiseParallel().withInput(seven),
                new SequenceParallel(7),
                new SequenceParallel(0, minusSeven, false),
                new PrepareModuleInput(Placement.invariant(), seven),
                new PrepareModuleInput(seven, Placement.invariant()),
                new PrepareModuleOutput(Placement.invariant(), minusSeven))) {
            assertThat(refused(new Linear(8, 8, true), 2, Map.of("", style)).problems())
                    .as(style.toString())
                    .singleElement()
                    .satisfies(problem -> assertThat(problem)
                            .startsWith("'': " + style + " shards dimension ")
                            .endsWith(
                                    "but no activation has more than 6 dimensions; HINT: dimensions count from 0, or from -1"
                                            + " for the last"));
        }
    }

    @Test
    void shouldNameTheModuleWhoseTensorLacksTheDimension() {
        ThreadRanks.run(2, world -> {
            Mlp mlp = Parallelize.apply(
                    new Mlp(4, 8, Activation.GELU, false),
                    DeviceMesh.of(world, "tp"),
                    Map.of(
                            "up_proj",
                            new ColwiseParallel(),
                            "down_proj",
                            new RowwiseParallel().withOutput(Placement.shard(2))));
            mlp.materialize(world.backend(), DType.FLOAT32, 1);
            Tensor x = Tensors.zeros(world.backend(), DType.FLOAT32, Shape.of(3, 4));
            assertThatThrownBy(() -> mlp.apply(x))
                    .isInstanceOf(LayoutException.class)
                    .hasMessage(
                            "the style of module 'down_proj' wants Shard(2) along mesh axis 'tp', but the tensor [3, 4]"
                                    + " has 2 dimensions; HINT: shard one of them in the plan's entry of the module");
        });
    }

    @Test
    void shouldNameOneSizeWhereNoSmallerOneWorks() {
        assertThat(refused(new Linear(3, 8, true), 2, Map.of("", new RowwiseParallel().withUnit(4)))
                        .problems())
                .containsExactly("'': the input has size 3, which is not whole units of 4 to cut for 2 ranks; HINT: the"
                        + " nearest size that works is 4");
    }

    @Test
    void shouldRefuseASecondCutAlongOneAxisAndNameBothEntries() {
        Mlp mlp = new Mlp(4, 8, Activation.GELU, false);
        Map<String, ParallelStyle> plan = Map.of("up_proj", new ColwiseParallel(), "down_proj", new RowwiseParallel());
        DeviceMesh mesh = mesh(2);
        Parallelize.apply(mlp, mesh, plan);
        Map<String, ParallelStyle> second = Map.of("*", new RowwiseParallel());
        assertThatThrownBy(() -> Parallelize.apply(mlp, mesh, second))
                .isInstanceOfSatisfying(
                        PlanException.class,
                        e -> assertThat(e.problems())
                                .containsExactlyInAnyOrder(
                                        "parameter 'up_proj.weight' would be cut twice along mesh axis 'tp': it is Shard(0) by"
                                                + " 'up_proj' -> ColwiseParallel, and '*' -> RowwiseParallel wants Shard(1);"
                                                + " HINT: take it out of one of the plans",
                                        "parameter 'down_proj.weight' would be cut twice along mesh axis 'tp': it is Shard(1)"
                                                + " by 'down_proj' -> RowwiseParallel, and '*' -> RowwiseParallel wants"
                                                + " Shard(1); HINT: take it out of one of the plans"));
        assertThat(mlp.parameters().values())
                .allSatisfy(p -> assertThat(p.placements()).isOne());
        assertThat(mlp.children().get("up_proj").splits()).containsExactly("ColwiseParallel along tp");
    }

    @Test
    void shouldAddASecondPlanForOtherModules() {
        DeviceMesh mesh = mesh(2);
        Mlp mlp = new Mlp(4, 8, Activation.GELU, false);
        Parallelize.apply(mlp, mesh, Map.of("up_proj", new ColwiseParallel()));
        Parallelize.apply(mlp, mesh, Map.of("down_proj", new RowwiseParallel()));
        assertThat(sharded(mlp)).containsExactly("down_proj", "up_proj");
        Parallelize.apply(mlp, mesh, Map.of()); // moves nothing
        assertThatThrownBy(() -> Parallelize.apply(mlp, mesh(2), Map.of()))
                .hasMessageContaining(
                        "parameter 'up_proj.weight' lies on another mesh: (tp=2) and (tp=2), which have the same"
                                + " axes but were made by two calls of DeviceMesh.of; HINT: make one DeviceMesh with all axes and"
                                + " apply each plan along one of its axes by name");
    }

    @Test
    void shouldLeaveLayersAloneThatWereSplitWhenTheyWereMade() {
        DeviceMesh mesh = mesh(2);
        Tree model = new Tree()
                .add("norm", new LayerNorm(4, 1e-5))
                .add("up", new ColumnParallelLinear(MeshAxis.only(mesh), 4, 8));
        Parallelize.apply(model, mesh, Map.of("norm", new SequenceParallel(0)));
        assertThat(sharded(model)).containsExactly("up");
        assertThat(model.parameters().get("norm.weight").layout()).hasToString("[tp: Invariant]");
        assertThatThrownBy(() -> Parallelize.apply(model, mesh, Map.of("up", new ColwiseParallel())))
                .hasMessageContaining("parameter 'up.weight' would be cut twice along mesh axis 'tp'");
    }

    @Test
    void shouldAskForTheAxisOfALargerMesh() {
        DeviceMesh mesh =
                DeviceMesh.of(new FakeGroup(0, 4), MetaBackend.get(), List.of(Map.entry("dp", 2), Map.entry("tp", 2)));
        Mlp mlp = new Mlp(4, 8, Activation.GELU, false);
        Map<String, ParallelStyle> plan = Map.of("up_proj", new ColwiseParallel());
        assertThatThrownBy(() -> Parallelize.apply(mlp, mesh, plan))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("mesh (dp=2, tp=2) has 2 axes; HINT: name the one to split modules along");
        assertThatThrownBy(() -> Parallelize.apply(mlp, mesh, "pp", plan))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("mesh (dp=2, tp=2) has no axis 'pp'");
        assertUntouched(mlp);
        Parallelize.apply(mlp, mesh, "tp", plan);
        assertThat(mlp.parameters().get("up_proj.weight").layout()).hasToString("[dp: Invariant, tp: Shard(0)]");
        assertThat(mlp.parameters().get("down_proj.weight").layout()).hasToString("[dp: Invariant, tp: Invariant]");
    }

    @Test
    void shouldNotDependOnTheOrderOfThePlan() {
        Map<String, ParallelStyle> forward = new LinkedHashMap<>();
        forward.put("a.*", new ColwiseParallel());
        forward.put("*.b", new RowwiseParallel());
        Map<String, ParallelStyle> backward = new LinkedHashMap<>();
        backward.put("*.b", new RowwiseParallel());
        backward.put("a.*", new ColwiseParallel());
        Tree model = new Tree().add("a.b", new Linear(2, 2, false));
        assertThat(refused(model, 2, forward).problems())
                .isEqualTo(refused(model, 2, backward).problems());
    }

    /** A user's style that asks for what cannot be. */
    private record Odd(Map<String, Placement> wishes) implements ParallelStyle {
        @Override
        public List<String> validate(String path, Module module, int ranks) {
            return List.of();
        }

        @Override
        public Map<String, Placement> placements(Module module) {
            return wishes;
        }

        @Override
        public void install(Module module, MeshAxis axis) {
            throw new IllegalStateException("not reached");
        }
    }

    @Test
    void shouldCheckWhatAUsersStyleAsksFor() {
        GatedMlp mlp = new GatedMlp(4, 6, Activation.SILU, false);
        List<String> problems = refused(
                        mlp,
                        2,
                        Map.of(
                                "gate_proj", new Odd(Map.of("wieght", Placement.shard(0))),
                                "up_proj", new Odd(Map.of("weight", Placement.shard(2))),
                                "down_proj", new Odd(Map.of("weight", new Placement.Shard(1, 4)))))
                .problems();
        assertThat(problems).hasSize(3);
        assertThat(problems.get(0))
                .contains("'gate_proj' has no parameter 'wieght'")
                .contains("[weight]");
        assertThat(problems.get(1)).contains("parameter 'up_proj.weight' [6, 4] cannot be Shard(2)");
        assertThat(problems.get(2)).contains("'down_proj.weight' [4, 6] cannot be Shard(1, unit 4)");
        assertUntouched(mlp);
    }

    @Test
    void shouldRefuseStylesThatContradictEachOther() {
        Linear layer = new Linear(4, 4, false);
        assertThat(refused(layer, 2, Map.of("", new ColwiseParallel().and(new RowwiseParallel())))
                        .problems())
                .containsExactly("'': ColwiseParallel makes 'weight' Shard(0), but RowwiseParallel makes it Shard(1);"
                        + " HINT: let one of them place it");
        ParallelStyle both =
                new PrepareModuleInput(Placement.shard(0), Placement.invariant()).and(new ColwiseParallel());
        Parallelize.apply(layer, mesh(2), Map.of("", both));
        assertThat(layer.splits())
                .containsExactly("PrepareModuleInput(Shard(0) -> Invariant) and ColwiseParallel along tp");
    }

    @Test
    void shouldNumberLayersOfAList() {
        ModuleList<Linear> layers = new ModuleList<>(List.of(new Linear(2, 4, false), new Linear(2, 4, false)));
        Tree model = new Tree().add("layers", layers);
        Parallelize.apply(model, mesh(2), Map.of("layers.*", new ColwiseParallel()));
        assertThat(sharded(model)).containsExactly("layers.0", "layers.1");
    }
}
