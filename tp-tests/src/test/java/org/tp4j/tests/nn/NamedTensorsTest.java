package org.tp4j.tests.nn;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tp4j.autograd.Tensors;
import org.tp4j.cpu.CpuBackend;
import org.tp4j.layout.DTensor;
import org.tp4j.layout.Placement;
import org.tp4j.mesh.DeviceMesh;
import org.tp4j.nn.Gradients;
import org.tp4j.nn.Linear;
import org.tp4j.nn.Module;
import org.tp4j.nn.NamedTensors;
import org.tp4j.parallel.ColwiseParallel;
import org.tp4j.parallel.ParallelStyle;
import org.tp4j.parallel.Parallelize;
import org.tp4j.parallel.PlanException;
import org.tp4j.parallel.PrepareModuleInput;
import org.tp4j.parallel.PrepareModuleOutput;
import org.tp4j.parallel.RowwiseParallel;
import org.tp4j.planner.DryRun;
import org.tp4j.planner.PlanTable;
import org.tp4j.tensor.Backend;
import org.tp4j.tensor.CapturedStep;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.Tensor;
import org.tp4j.tensor.meta.MetaBackend;
import org.tp4j.threads.ThreadRanks;

/** Modules with several inputs and outputs, by name: hooks, styles, the dry run and captured steps. */
class NamedTensorsTest {
    private static final int IN = 6;
    private static final int HIDDEN = 10;
    private static final Shape INPUT = Shape.of(4, IN);
    private static final double TOLERANCE = 1e-12; // float64 sums of a dozen terms in another order

    /** Shaped like attention: takes an input, an optional mask and scales; returns a result and its parts. */
    private static final class Gate extends Module {
        private final Linear up = child("up", new Linear(IN, HIDDEN, true));
        private final Linear down = child("down", new Linear(HIDDEN, IN, true));
        private final boolean declared;

        private record Outputs(Tensor y, Tensor weights) {}

        Gate(boolean declared) {
            this.declared = declared;
        }

        Outputs apply(Tensor x, @Nullable Tensor mask, Tensor scales) {
            NamedTensors out = callForSeveral(
                    NamedTensors.of("x", x).and("mask", mask).and("scales", scales),
                    in -> forward(in.get("x"), in.find("mask"), in.get("scales")));
            return new Outputs(out.get("y"), out.get("weights"));
        }

        private NamedTensors forward(Tensor x, @Nullable Tensor mask, Tensor scales) {
            Tensor hidden = up.apply(x).mul(scales);
            Tensor weights = mask == null ? hidden.sigmoid() : hidden.sigmoid().mul(mask);
            return NamedTensors.of("y", down.apply(hidden.mul(weights))).and("weights", weights);
        }

        @Override
        public List<String> inputNames() {
            return declared ? List.of("x", "mask", "scales") : List.of();
        }

        @Override
        public List<String> outputNames() {
            return declared ? List.of("y", "weights") : List.of();
        }
    }

    private static final ParallelStyle INSIDE = new PrepareModuleInput(
                    "mask", Placement.invariant(), Placement.shard(-1))
            .and(new PrepareModuleInput("scales", Placement.invariant(), Placement.shard(-1)))
            .and(new PrepareModuleOutput("weights", Placement.shard(-1), Placement.invariant()));

    private static final Map<String, ParallelStyle> PLAN =
            Map.of("", INSIDE, "up", new ColwiseParallel(), "down", new RowwiseParallel());

    private static Tensor mask(Backend backend) {
        double[] elements = new double[4 * HIDDEN];
        for (int i = 0; i < elements.length; i++) {
            elements[i] = i % 3 == 0 ? 0 : 1;
        }
        return Tensors.of(backend, elements, 4, HIDDEN);
    }

    private static Map<String, double[]> run(Gate gate, Backend backend, boolean masked) {
        gate.materialize(backend, DType.FLOAT64, 7);
        Tensor x = Tensors.normal(backend, DType.FLOAT64, INPUT, 0, 1, 7, 1).requiresGrad(true);
        Tensor scales = Tensors.normal(backend, DType.FLOAT64, Shape.of(HIDDEN), 1, 0.1, 7, 2)
                .requiresGrad(true);
        Gate.Outputs out = gate.apply(x, masked ? mask(backend) : null, scales);
        out.y().square().sum().add(out.weights().square().sum()).backward();
        Map<String, double[]> values = new HashMap<>();
        values.put("y", whole(out.y()));
        values.put("weights", whole(out.weights()));
        values.put("x.grad", whole(x.grad()));
        values.put("scales.grad", whole(scales.grad()));
        Gradients.of(gate).forEach((name, gradient) -> values.put(name, whole(gradient)));
        return values;
    }

    private static double[] whole(@Nullable Tensor tensor) {
        assertThat(tensor).isNotNull();
        return tensor.detach() instanceof DTensor d ? d.fullTensor().toDoubles() : tensor.toDoubles();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4})
    void shouldComputeWhatOneRankComputes(int ranks) {
        for (boolean masked : new boolean[] {true, false}) {
            Map<String, double[]> expected = run(new Gate(true), CpuBackend.get(), masked);
            List<Map<String, double[]>> all = ThreadRanks.call(ranks, world -> {
                Gate gate = Parallelize.apply(new Gate(masked), DeviceMesh.of(world, "tp"), PLAN);
                return run(gate, world.backend(), masked);
            });
            for (Map<String, double[]> values : all) {
                assertThat(values.keySet()).isEqualTo(expected.keySet());
                values.forEach((name, value) -> {
                    double[] right = expected.get(name);
                    assertThat(value).as(name).hasSameSizeAs(right);
                    for (int i = 0; i < value.length; i++) {
                        assertThat(value[i])
                                .as(name)
                                .isCloseTo(right[i], org.assertj.core.data.Offset.offset(TOLERANCE * 10));
                    }
                });
            }
        }
    }

    @Test
    void shouldRedistributeWhatTheStyleNames() {
        ThreadRanks.run(2, world -> {
            Gate gate = Parallelize.apply(new Gate(true), DeviceMesh.of(world, "tp"), PLAN);
            gate.materialize(world.backend(), DType.FLOAT64, 7);
            Map<String, String> in = new HashMap<>();
            gate.addEveryInputHook((name, tensor) -> {
                in.put(name, tensor instanceof DTensor d ? d.layout().toString() : "plain");
                return tensor;
            });
            Gate.Outputs out = gate.apply(
                    Tensors.ones(world.backend(), DType.FLOAT64, INPUT),
                    mask(world.backend()),
                    Tensors.ones(world.backend(), DType.FLOAT64, Shape.of(HIDDEN)));
            assertThat(in)
                    .containsOnly(
                            Map.entry("x", "plain"),
                            Map.entry("mask", "[tp: Shard(1)]"),
                            Map.entry("scales", "[tp: Shard(0)]"));
            assertThat(((DTensor) out.weights()).layout()).hasToString("[tp: Invariant]");
        });
    }

    @Test
    void shouldRunHooksByNameForTheFirstAndForAll() {
        Gate gate = new Gate(false);
        gate.materialize(CpuBackend.get(), DType.FLOAT64, 7);
        List<String> seen = new ArrayList<>();
        Module.Hook every = gate.addEveryInputHook((name, tensor) -> {
            seen.add(name);
            return tensor;
        });
        gate.addInputHook(x -> {
            seen.add("first");
            return x;
        });
        gate.addInputHook("mask", mask -> {
            seen.add("the mask");
            return mask;
        });
        gate.addOutputHook("weights", weights -> {
            seen.add("the weights");
            return weights;
        });
        Tensor x = Tensors.ones(CpuBackend.get(), DType.FLOAT64, INPUT);
        Tensor scales = Tensors.ones(CpuBackend.get(), DType.FLOAT64, Shape.of(HIDDEN));
        gate.apply(x, null, scales);
        assertThat(seen).containsExactly("x", "scales", "first", "the weights");
        seen.clear();
        every.remove();
        gate.apply(x, mask(CpuBackend.get()), scales);
        assertThat(seen).containsExactly("first", "the mask", "the weights");
    }

    @Test
    void shouldNameTheTensorsThereAreWhenOneIsUnknown() {
        Gate declared = new Gate(true);
        assertThatThrownBy(() -> declared.addInputHook("msak", x -> x))
                .hasMessageContaining("module '' has no input 'msak'; its inputs are [x, mask, scales]");
        ThreadRanks.run(
                1,
                world -> assertThatThrownBy(() -> Parallelize.apply(
                                declared,
                                DeviceMesh.of(world, "tp"),
                                Map.of(
                                        "",
                                        new PrepareModuleOutput("wieghts", Placement.shard(0), Placement.invariant()))))
                        .isInstanceOf(PlanException.class)
                        .hasMessageContaining("'' has no output 'wieghts'")
                        .hasMessageContaining("HINT: its outputs are [y, weights]"));
        Gate open = new Gate(false);
        open.materialize(CpuBackend.get(), DType.FLOAT64, 7);
        open.addInputHook("msak", x -> x);
        Tensor x = Tensors.ones(CpuBackend.get(), DType.FLOAT64, INPUT);
        assertThatThrownBy(() -> open.apply(x, null, x))
                .hasMessageContaining("is for its input 'msak', but the inputs of this call are [x, mask, scales]")
                .hasMessageContaining("HINT: the nearest name is 'mask'");
        Linear layer = new Linear(2, 2, false);
        assertThatThrownBy(() -> layer.addOutputHook("z", y -> y)).hasMessageContaining("its outputs are [y]");
        assertThatThrownBy(() -> NamedTensors.of("x", x).and("x", x)).hasMessageContaining("'x' already among [x]");
        assertThatThrownBy(() -> NamedTensors.of("x", x).and("mask", null).get("mask"))
                .hasMessageContaining("tensor 'mask' was not given; there are [x]");
    }

    @Test
    void shouldBeSeenByTheDryRunByName() {
        PlanTable table = DryRun.on("tp", 5, INPUT)
                .describe(
                        () -> new Gate(true),
                        PLAN,
                        (gate, x) -> gate.apply(
                                        x,
                                        Tensors.ones(MetaBackend.get(), DType.FLOAT32, Shape.of(4, HIDDEN)),
                                        Tensors.ones(MetaBackend.get(), DType.FLOAT32, Shape.of(HIDDEN)))
                                .y());
        assertThat(table.activations())
                .filteredOn(activation -> activation.module().isEmpty())
                .extracting(PlanTable.Activation::direction)
                .containsExactly("in", "in mask", "in scales", "out", "out weights");
        assertThat(table.activations())
                .filteredOn(activation -> activation.direction().equals("in mask"))
                .allSatisfy(activation -> assertThat(activation.local()).isEqualTo(Shape.of(4, 2)));
    }

    @Test
    void shouldWorkInACapturedStep() {
        Gate gate = new Gate(true);
        gate.materialize(CpuBackend.get(), DType.FLOAT64, 7);
        Tensor x = Tensors.ones(CpuBackend.get(), DType.FLOAT64, INPUT);
        Tensor scales = Tensors.ones(CpuBackend.get(), DType.FLOAT64, Shape.of(HIDDEN));
        List<double[]> results = new ArrayList<>();
        try (CapturedStep step = CpuBackend.get()
                .capture(() -> results.add(gate.apply(x, null, scales).y().toDoubles()))) {
            step.run();
            step.run();
        }
        assertThat(results.get(1)).containsExactly(results.get(0));
    }
}
