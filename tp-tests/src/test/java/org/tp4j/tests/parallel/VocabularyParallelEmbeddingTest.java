package org.tp4j.tests.parallel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.tp4j.autograd.Tensors;
import org.tp4j.cpu.CpuBackend;
import org.tp4j.layout.Placement;
import org.tp4j.mesh.DeviceMesh;
import org.tp4j.nn.Embedding;
import org.tp4j.nn.Gradients;
import org.tp4j.nn.Initializer;
import org.tp4j.op.internal.GatherRowsOp;
import org.tp4j.parallel.ColwiseParallel;
import org.tp4j.parallel.ParallelStyle;
import org.tp4j.parallel.Parallelize;
import org.tp4j.parallel.RowwiseParallel;
import org.tp4j.tensor.Backend;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.Tensor;
import org.tp4j.tests.Cases;
import org.tp4j.threads.ThreadRanks;

/** Case A12: an embedding cut by vocabulary (or by features), and the padding id as a number of the whole table. */
class VocabularyParallelEmbeddingTest {
    private static final Cases CASE = Cases.of("A12");

    static Stream<Arguments> tables() {
        return Stream.of(1, 2, 3, 4)
                .flatMap(t -> Stream.of("None", "4", "-2")
                        .flatMap(padding -> Stream.of(
                                        new RowwiseParallel(),
                                        new ColwiseParallel(),
                                        new RowwiseParallel().withOutput(Placement.shard(0)),
                                        new ColwiseParallel().withOutput(Placement.invariant()))
                                .map(style -> Arguments.of(t, padding, style))));
    }

    @ParameterizedTest
    @MethodSource("tables")
    void shouldLookUpAndTrainTheRowsOfTheWholeTable(int ranks, String padding, ParallelStyle style) {
        ThreadRanks.run(ranks, world -> {
            Backend backend = world.backend();
            long paddingId = padding.equals("None") ? GatherRowsOp.NO_PADDING : Long.parseLong(padding);
            Embedding embedding = new Embedding(7, 2, Initializer.normal(0, 1), paddingId);
            Parallelize.apply(embedding, DeviceMesh.of(world, "tp"), Map.of("", style));
            embedding.materialize(backend, DType.FLOAT32, 1);
            embedding.loadState(Map.of("weight", CASE.tensor(backend, DType.FLOAT32, "W")));
            Tensor y = embedding.apply(CASE.ids(backend, "ids"));
            CASE.assertIs("by_padding_idx/" + padding + "/Y", y);
            y.mul(CASE.tensor(backend, DType.FLOAT32, "G")).sum().backward();
            CASE.assertIs(
                    "by_padding_idx/" + padding + "/grad_W",
                    Gradients.of(embedding).get("weight"));
        });
    }

    @Test
    void shouldRefuseAnIdThatNoRankOwns() {
        assertThatThrownBy(() -> ThreadRanks.run(2, world -> {
                    Embedding embedding = new Embedding(7, 2);
                    Parallelize.apply(embedding, DeviceMesh.of(world, "tp"), Map.of("", new RowwiseParallel()));
                    embedding.materialize(world.backend(), DType.FLOAT32, 1);
                    embedding.apply(Tensors.of(world.backend(), new long[] {0, 7}, 2));
                }))
                .hasMessageContaining("embedding: id 7 at position [1] is outside 0 to 6");
    }

    @Test
    void shouldRefuseAPaddingIdOutsideTheTable() {
        assertThatThrownBy(() -> new Embedding(7, 2, Initializer.zeros(), 7))
                .hasMessageContaining("padding id 7 is outside a table of 7 rows");
        assertThatThrownBy(() -> new Embedding(7, 2, Initializer.zeros(), -8)).hasMessageContaining("-8");
    }

    @Test
    void shouldLookUpOnOneRankWithoutAMesh() {
        Embedding embedding = new Embedding(7, 2);
        embedding.materialize(CpuBackend.get(), DType.FLOAT64, 3);
        Tensor rows = embedding.apply(Tensors.of(CpuBackend.get(), new int[] {6, 0, 6}, 3, 1));
        assertThat(rows.shape()).isEqualTo(Shape.of(3, 1, 2));
        double[] table = embedding.weight().tensor().toDoubles();
        assertThat(rows.toDoubles()).containsExactly(table[12], table[13], table[0], table[1], table[12], table[13]);
    }
}
