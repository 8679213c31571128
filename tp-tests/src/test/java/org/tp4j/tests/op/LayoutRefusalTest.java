package org.tp4j.tests.op;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Map;
import org.assertj.core.api.AbstractThrowableAssert;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.tp4j.autograd.DTensors;
import org.tp4j.autograd.Tensors;
import org.tp4j.autograd.internal.MeshBorder;
import org.tp4j.comm.ReduceOp;
import org.tp4j.layout.DTensor;
import org.tp4j.layout.Layout;
import org.tp4j.layout.LayoutException;
import org.tp4j.layout.Placement;
import org.tp4j.layout.Placement.Shard;
import org.tp4j.mesh.DeviceMesh;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.ExecutionContext;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.Tensor;
import org.tp4j.tests.oracle.Rank;
import org.tp4j.tests.oracle.Ranks;
import org.tp4j.tests.oracle.Whole;

/** What operations say to layouts that do not go together, on two ranks; every hint is what mends it. */
class LayoutRefusalTest {
    private static final Placement INVARIANT = Placement.invariant();
    private static final Placement REPLICATE = Placement.replicate();
    private static final Placement PARTIAL = Placement.partial();
    private static final Placement ROWS = Placement.shard(0);
    private static final Placement COLUMNS = Placement.shard(1);

    private static DTensor leaf(Rank rank, Placement placement, long... sizes) {
        Shape shape = Shape.of(sizes);
        double[] elements = new double[(int) shape.elements()];
        java.util.Arrays.setAll(elements, i -> i + 1);
        DTensor leaf = rank.place(Whole.of(shape, elements), placement);
        leaf.requiresGrad(true);
        return leaf;
    }

    private static AbstractThrowableAssert<?, ?> assertRefused(ThrowingCallable call) {
        return assertThatThrownBy(call).isInstanceOf(LayoutException.class);
    }

    private static String redistribute(int operand, Placement to) {
        return "HINT: redistribute operand " + operand + " to " + to + " on axis 'tp' first";
    }

    @Test
    void shouldNameOperationLayoutsAxisModuleAndRemedy() {
        Ranks.run(2, rank -> {
            DTensor x = leaf(rank, INVARIANT, 3, 4);
            DTensor w = leaf(rank, ROWS, 6, 4);
            String before = ExecutionContext.current().setModulePath("layers.0.mlp.up_proj");
            assertRefused(() -> x.linear(w, null))
                    .hasMessage(
                            "linear in module 'layers.0.mlp.up_proj': Invariant does not mix with Shard: its gradient"
                                    + " would be incomplete on mesh axis 'tp'. Operands: float64[3, 4] [tp: Invariant] (requires"
                                    + " gradient), float64[6, 4] [tp: Shard(0)] (requires gradient); HINT: redistribute operand"
                                    + " 0 to Replicate on axis 'tp' first")
                    .satisfies(
                            e -> assertThat(((LayoutException) e).operation()).isEqualTo("linear"));
            ExecutionContext.current().setModulePath(before);
            assertThat(x.redistribute("tp", REPLICATE).linear(w, null).shape()).isEqualTo(Shape.of(3, 6));
        });
    }

    @Test
    void shouldNotMixInvariantWithAnything() {
        Ranks.run(2, rank -> {
            DTensor x = leaf(rank, INVARIANT, 4, 4);
            assertRefused(() -> x.mul(leaf(rank, REPLICATE, 4, 4)))
                    .hasMessageContaining("Invariant does not mix with Replicate: its gradient would be incomplete")
                    .hasMessageContaining(redistribute(0, REPLICATE));
            assertRefused(() -> x.mul(leaf(rank, PARTIAL, 4, 4)))
                    .hasMessageContaining("Invariant does not mix with Partial")
                    .hasMessageContaining(redistribute(0, REPLICATE));
            assertRefused(() -> x.add(leaf(rank, ROWS, 4, 4)))
                    .hasMessageContaining("Invariant does not mix with Shard")
                    .hasMessageContaining(redistribute(0, ROWS));
        });
    }

    @Test
    void shouldNotMixCutsThatDiffer() {
        Ranks.run(2, rank -> {
            DTensor rows = leaf(rank, ROWS, 4, 4);
            assertRefused(() -> leaf(rank, COLUMNS, 4, 4).add(rows))
                    .hasMessageContaining("operands are cut along dimensions that do not belong together")
                    .hasMessageContaining(redistribute(0, ROWS));
            assertRefused(() -> leaf(rank, REPLICATE, 4, 4).add(rows))
                    .hasMessageContaining("dimension 0 of operand 0 is whole where another's is sharded")
                    .hasMessageContaining(redistribute(0, ROWS));
            Placement pairs = new Shard(0, 4);
            assertRefused(() -> leaf(rank, pairs, 4, 4).add(rows))
                    .hasMessageContaining(
                            "operands are cut differently: Shard(0) of 4 elements and Shard(0, unit 4) of 4 elements")
                    .hasMessageContaining(redistribute(0, ROWS));
            assertRefused(() -> leaf(rank, ROWS, 1, 4).add(rows))
                    .hasMessageContaining(
                            "operands are cut differently: Shard(0) of 4 elements and Shard(0) of 1 elements");
            assertRefused(() -> leaf(rank, COLUMNS, 4, 4).linear(leaf(rank, REPLICATE, 6, 4), null))
                    .hasMessageContaining("dimension 1 of operand 1 is whole where another's is sharded")
                    .hasMessageContaining(redistribute(1, COLUMNS));
        });
    }

    @Test
    void shouldLetPartialPassWhatIsLinearInItAlone() {
        Ranks.run(2, rank -> {
            DTensor x = leaf(rank, PARTIAL, 4, 4);
            assertRefused(x::gelu)
                    .hasMessageContaining("gelu: it is not linear in operand 0, which is a pending sum")
                    .hasMessageContaining(redistribute(0, INVARIANT));
            assertRefused(() -> x.mul(leaf(rank, PARTIAL, 4, 4)))
                    .hasMessageContaining("a product of two pending sums is not a pending sum")
                    .hasMessageContaining(redistribute(0, REPLICATE));
            assertRefused(() -> x.add(leaf(rank, ROWS, 4, 4)))
                    .hasMessageContaining("Shard and Partial do not go together")
                    .hasMessageContaining(redistribute(0, REPLICATE));
            assertRefused(() -> x.cast(DType.INT64)).hasMessageContaining("is not linear in operand 0");
            assertRefused(() -> leaf(rank, REPLICATE, 4, 4).div(x)).hasMessageContaining("is not linear in operand 1");
            assertRefused(() -> x.pad(0, 1, 0, 1.0)).hasMessageContaining("pad: it is not linear in operand 0");
            Tensor mask = Tensors.of(rank.backend(), new boolean[] {true}, 1);
            assertRefused(() -> x.maskedFill(mask, 1.0))
                    .hasMessageContaining("masked_fill with 1.0: it is not linear in a pending sum on mesh axis 'tp'")
                    .hasMessageContaining("HINT: redistribute(\"tp\", Placement.invariant()) first");
            assertThat(rank.value(x.maskedFill(mask, 0))).containsOnly(0);
        });
    }

    @Test
    void shouldNotPassStatistics() {
        Ranks.run(2, rank -> {
            DTensor x = rank.place(Whole.of(Shape.of(4), 1, 2, 3, 4), ROWS);
            DTensor max = (DTensor) x.max(false);
            assertThat(max.layout().placement(0)).isEqualTo(new Placement.Partial(ReduceOp.MAX));
            assertRefused(() -> max.add(1))
                    .hasMessageContaining("a Partial(max) is a statistic, which passes no operation")
                    .hasMessageContaining(redistribute(0, INVARIANT));
            assertRefused(() -> max.reshape(1, 1))
                    .hasMessageContaining("a Partial(max) is a statistic, which passes no operation")
                    .hasMessageContaining(redistribute(0, INVARIANT));
            assertThat(max.redistribute("tp", INVARIANT).add(1).item()).isEqualTo(5);
            max.requiresGrad(true);
            assertRefused(() -> max.redistribute("tp", INVARIANT))
                    .hasMessageContaining("a pending reduction other than a sum carries no gradient")
                    .hasMessageContaining("HINT: detach() the tensor first");
        });
    }

    @Test
    void shouldNotCutWhatWorksOnRowsAsAWhole() {
        Ranks.run(2, rank -> {
            DTensor x = leaf(rank, COLUMNS, 4, 4);
            Map<String, ThrowingCallable> calls = Map.of(
                    "softmax", () -> x.softmax(1),
                    "log_softmax", () -> x.logSoftmax(-1),
                    "layer_norm", () -> x.layerNorm(null, null, 1e-5),
                    "rms_norm", () -> x.rmsNorm(null, 1e-5),
                    "slice", () -> x.slice(1, 0, 2),
                    "pad", () -> x.pad(1, 1, 1, 0),
                    "concat", () -> Tensors.concat(1, x, x));
            calls.forEach((name, call) -> assertRefused(call)
                    .hasMessageStartingWith(name + ": it works on dimension 1 as a whole, which is sharded")
                    .hasMessageContaining("to Invariant on axis 'tp' first"));
            assertRefused(() -> x.softmax(-1)).hasMessageContaining(redistribute(0, INVARIANT));
            assertRefused(() -> x.variance(false, false, 1))
                    .hasMessageStartingWith("variance: it works on dimension 1 as a whole, which is sharded")
                    .hasMessageContaining("HINT: redistribute(\"tp\", Placement.invariant()) first");
            assertRefused(() -> x.detach().argmax(1)).hasMessageContaining(redistribute(0, INVARIANT));
            assertThat(x.softmax(0).shape()).isEqualTo(Shape.of(4, 4));
        });
    }

    @Test
    void shouldRefuseEmbeddingOfShardedIdsInAShardedTable() {
        Ranks.run(2, rank -> {
            DTensor table = leaf(rank, ROWS, 6, 2);
            Tensor whole = Tensors.of(rank.backend(), new long[] {0, 5, 3, 3}, 4);
            DTensor ids = DTensors.distribute(whole, rank.mesh(), ROWS);
            assertRefused(() -> table.gatherRows(ids))
                    .hasMessageContaining("embedding: operands are cut along dimensions that do not belong together")
                    .hasMessageContaining(redistribute(0, REPLICATE));
            DTensor rows = (DTensor) table.gatherRows(whole);
            assertThat(rows.layout().placement(0)).isEqualTo(PARTIAL);
            assertThat(rank.value(rows)).containsExactly(1, 2, 11, 12, 7, 8, 7, 8);
        });
    }

    @Test
    void shouldMergeAndSplitShardedDimensionsOnWholeUnitsAlone() {
        Ranks.run(2, rank -> {
            DTensor x = leaf(rank, ROWS, 6, 5);
            assertRefused(() -> x.reshape(3, 2, 5).reshape(3, 10))
                    .hasMessageContaining("reshape: from [6, 5] to [3, 2, 5] the cut of dimension 0 (6 elements over 2"
                            + " ranks, Shard(0)) does not fall on whole units of 2")
                    .hasMessageContaining("HINT: redistribute operand 0 to Shard(0, unit 2) on axis 'tp' first");
            DTensor heads = x.redistribute("tp", new Shard(0, 2));
            assertThat(rank.value(heads.reshape(3, 2, 5))).isEqualTo(rank.value(x));
            assertRefused(() -> leaf(rank, COLUMNS, 4, 4).reshape(16))
                    .hasMessageContaining(
                            "reshape: from [4, 4] to [16] it merges dimension 1, which is sharded, into an outer")
                    .hasMessageContaining(redistribute(0, REPLICATE));
            assertRefused(() -> leaf(rank, ROWS, 4, 3).reshape(3, 4)).hasMessageContaining("whole units of 4");
        });
    }

    @Test
    void shouldRefuseTwoMeshes() {
        Ranks.run(List.of(2, 2), rank -> {
            DTensor x = leaf2(rank, rank.mesh());
            DTensor y = leaf2(rank, rank.mesh().slice("tp"));
            assertRefused(() -> x.add(y))
                    .hasMessageContaining("add: operands lie on two meshes, (dp=2, tp=2) and (tp=2)")
                    .hasMessageContaining("(dp=2, tp=2) and (tp=2), slices of one mesh; HINT: make one DeviceMesh");
            assertRefused(() -> x.redistribute(y.layout()))
                    .hasMessageContaining(
                            "the meshes differ: (dp=2, tp=2) and (tp=2), slices of one mesh; HINT: make one");
            assertRefused(() -> x.backward(y)).hasMessageContaining("HINT: make one DeviceMesh with all axes");
            DTensor twin = leaf2(rank, DeviceMesh.of(rank.world(), Map.entry("dp", 2), Map.entry("tp", 2)));
            assertRefused(() -> x.add(twin))
                    .hasMessage(
                            "add: operands lie on two meshes, (dp=2, tp=2) and (dp=2, tp=2), which have the same axes"
                                    + " but were made by two calls of DeviceMesh.of; HINT: make one DeviceMesh with all axes");
        });
    }

    private static DTensor leaf2(Rank rank, DeviceMesh mesh) {
        Tensor plain = rank.tensor(Shape.of(2), 1, 2);
        DTensor leaf = MeshBorder.trusted(plain, plain.shape(), Layout.uniform(mesh, 1, INVARIANT));
        leaf.requiresGrad(true);
        return leaf;
    }

    @Test
    void shouldRefuseTwoOrdersOfCuts() {
        Ranks.run(List.of(2, 2), rank -> {
            Layout dpOuter = rank.layout(Shape.of(8), ROWS, ROWS);
            Whole value = Whole.of(Shape.of(8), 0, 1, 2, 3, 4, 5, 6, 7);
            DTensor x = rank.place(value, dpOuter, 1);
            DTensor y = rank.place(value, dpOuter.withCutOrder("tp", "dp"), 1);
            assertRefused(() -> x.add(y))
                    .hasMessageContaining("add: operands are cut by the same axes in different orders")
                    .hasMessageContaining("cut in the order tp, dp")
                    .hasMessageContaining("HINT: redistribute one to the layout of the other");
            assertThat(rank.value(x.add(y.redistribute(x.layout())))).containsExactly(0, 2, 4, 6, 8, 10, 12, 14);
        });
    }

    @Test
    void shouldReportPiecesThatAreNotWholeUnitsOnEveryRank() {
        Ranks.run(List.of(2, 2), rank -> {
            Shape shape = Shape.of(10); // dp cuts 6 and 4, of which 4 has no whole units of 3
            DTensor x = rank.place(Whole.of(shape, new double[10]), REPLICATE, REPLICATE);
            Layout target = rank.layout(shape, new Shard(0, 2), new Shard(0, 3));
            assertRefused(() -> x.redistribute(target))
                    .hasMessageContaining(
                            "dimension 0 of shape [10] has pieces of 4 elements, which are not whole units"
                                    + " of 3 for Shard(0, unit 3)")
                    .hasMessageContaining("HINT: shard in units that divide what is cut");
            assertRefused(() -> x.redistribute(rank.layout(shape, new Shard(0, 4), REPLICATE)))
                    .hasMessageContaining("has pieces of 10 elements, which are not whole units of 4");
        });
    }

    /**
     * Of 4 rows, 2 ranks get 2 and 2 in units of 1 and of 2. Of the 2 rows that an outer cut leaves, they get 1 and 1, or 2
     * and 0, and a single row would be added to both.
     */
    @Test
    void shouldNotMixNestedCutsInOtherUnits() {
        Ranks.run(List.of(2, 2), rank -> {
            Placement pairs = new Shard(0, 2);
            double[] ones = {1, 1, 1, 1};
            for (Placement[] one : new Placement[][] {{ROWS, pairs}, {pairs, ROWS}, {REPLICATE, pairs}}) {
                for (boolean swapped : new boolean[] {false, true}) {
                    DTensor a = rank.place(Whole.of(Shape.of(4), 1, 2, 3, 4), ROWS, ROWS);
                    DTensor b = rank.place(Whole.of(Shape.of(4), ones), one);
                    try {
                        assertThat(rank.value(swapped ? b.add(a) : a.add(b))).containsExactly(2, 3, 4, 5);
                    } catch (LayoutException e) {
                        assertThat(e).hasMessageContaining("cut").hasMessageContaining("HINT: redistribute");
                    }
                }
            }
            DTensor row = rank.place(Whole.of(Shape.of(4), 1, 2, 3, 4), ROWS, ROWS);
            assertRefused(() -> row.add(rank.place(Whole.of(Shape.of(4), ones), ROWS, pairs)))
                    .hasMessageContaining("operands are cut differently");
        });
    }
}
