package org.tp4j.tests.parallel;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.tp4j.autograd.DTensors;
import org.tp4j.layout.Placement;
import org.tp4j.mesh.DeviceMesh;
import org.tp4j.nn.Gradients;
import org.tp4j.nn.Layer;
import org.tp4j.nn.LayerNorm;
import org.tp4j.nn.Mlp;
import org.tp4j.parallel.ColwiseParallel;
import org.tp4j.parallel.Parallelize;
import org.tp4j.parallel.RowwiseParallel;
import org.tp4j.parallel.SequenceParallel;
import org.tp4j.tensor.Activation;
import org.tp4j.tensor.Backend;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.Tensor;
import org.tp4j.tests.Cases;
import org.tp4j.threads.ThreadRanks;

/** Case A11: a sequence-parallel block whose number of tokens T does not divide, or that has fewer tokens than ranks. */
class SequenceLengthTest {
    private static final Cases CASE = Cases.of("A11");
    private static final Map<String, String> NAMES = Map.of(
            "norm.weight", "gamma",
            "norm.bias", "beta",
            "mlp.up_proj.weight", "W1",
            "mlp.up_proj.bias", "b1",
            "mlp.down_proj.weight", "W2",
            "mlp.down_proj.bias", "b2");

    /** Y = relu(LN(X) W1ᵀ + b1) W2ᵀ + b2 + X. */
    private static final class Block extends Layer {
        private final LayerNorm norm = child("norm", new LayerNorm(3, CASE.number("eps")));
        private final Mlp mlp = child("mlp", new Mlp(3, 4, Activation.RELU, true));

        @Override
        protected Tensor forward(Tensor x) {
            return x.add(mlp.apply(norm.apply(x)));
        }
    }

    static Stream<Arguments> sizes() {
        return Stream.of(1, 2, 3, 4).flatMap(t -> Stream.of("5", "2", "1").map(s -> Arguments.of(t, s)));
    }

    @ParameterizedTest
    @MethodSource("sizes")
    void shouldComputeWhatOneRankDoesWhateverTheLength(int ranks, String length) {
        String at = "by_S/" + length + "/";
        ThreadRanks.run(ranks, world -> {
            for (DType dtype : new DType[] {DType.FLOAT64, DType.FLOAT32}) {
                Backend backend = world.backend();
                DeviceMesh mesh = DeviceMesh.of(world, "tp");
                Block block = Parallelize.apply(
                        new Block(),
                        mesh,
                        Map.of(
                                "norm", new SequenceParallel(0),
                                "mlp.up_proj", new ColwiseParallel(),
                                "mlp.down_proj", new RowwiseParallel().withOutput(Placement.shard(0))));
                block.materialize(backend, dtype, 1);
                Map<String, Tensor> state = new HashMap<>();
                NAMES.forEach((ours, theirs) -> state.put(ours, CASE.tensor(backend, dtype, "params/" + theirs)));
                block.loadState(state);

                Tensor x = CASE.tensor(backend, dtype, at + "X").requiresGrad(true);
                Tensor y = block.apply(DTensors.distribute(x, mesh, Placement.shard(0)));
                CASE.assertIs(at + "Y", y);
                y.mul(CASE.tensor(backend, dtype, at + "G")).sum().backward();
                CASE.assertIs(at + "grad_X", x.grad());
                Gradients.of(block).forEach((name, grad) -> CASE.assertIs(at + "grad_" + NAMES.get(name), grad));
            }
        });
    }

    @ParameterizedTest
    @MethodSource("plans")
    void shouldGiveOneRanksGradientsInOtherShapes(int ranks, Shape input) {
        int sequence = input.dims() - 2;
        Parity.check(
                ranks,
                Block::new,
                Map.of(
                        "norm", new SequenceParallel(sequence),
                        "", new org.tp4j.parallel.PrepareModuleInput(Placement.invariant(), Placement.shard(sequence)),
                        "mlp.up_proj", new ColwiseParallel(),
                        "mlp.down_proj", new RowwiseParallel().withOutput(Placement.shard(sequence))),
                input);
    }

    static Stream<Arguments> plans() {
        List<Shape> shapes = List.of(Shape.of(2, 5, 3), Shape.of(3, 4, 3), Shape.of(1, 1, 3), Shape.of(8, 3));
        return Stream.of(1, 2, 3, 4).flatMap(t -> shapes.stream().map(s -> Arguments.of(t, s)));
    }
}
