package org.tp4j.tests.autograd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tp4j.autograd.DTensors;
import org.tp4j.autograd.internal.MeshBorder;
import org.tp4j.layout.DTensor;
import org.tp4j.layout.Layout;
import org.tp4j.layout.LayoutException;
import org.tp4j.layout.Placement;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.Tensor;
import org.tp4j.tests.oracle.Rank;
import org.tp4j.tests.oracle.Ranks;
import org.tp4j.tests.oracle.Whole;

/** How tensors enter a mesh and leave it. */
class MeshBorderTest {
    private static final Placement INVARIANT = Placement.invariant();
    private static final Placement REPLICATE = Placement.replicate();
    private static final Placement ROWS = Placement.shard(0);

    private static DTensor leaf(Rank rank, Layout layout, double... elements) {
        DTensor leaf = rank.place(Whole.of(Shape.of(elements.length), elements), layout, 3);
        leaf.requiresGrad(true);
        return leaf;
    }

    private static DTensor leaf(Rank rank, Placement placement, double... elements) {
        return leaf(rank, Layout.uniform(rank.mesh(), 1, placement), elements);
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 3, 4})
    void shouldReportRanksFedDifferentData(int ranks) {
        Ranks.run(ranks, rank -> {
            DTensor w = leaf(rank, INVARIANT, 1, 2);
            Tensor batch = rank.tensor(Shape.of(2), 1, rank.number() == ranks - 1 ? 5 : 2);
            assertThatThrownBy(() -> batch.mul(w))
                    .isInstanceOf(LayoutException.class)
                    .hasMessageContaining(
                            "mul: operand 0, a plain tensor float64[2], counts as Invariant, but ranks 0 and "
                                    + (ranks - 1) + " of mesh axis 'tp' hold different data")
                    .hasMessageContaining("HINT: feed every rank of 'tp' the same data, or declare it with"
                            + " DTensors.fromLocal(tensor, mesh, placements)");
            Tensor same = rank.tensor(Shape.of(2), 1, 2);
            assertThat(same.sub(w).toDoubles()).containsOnly(0);
            Tensor shape = rank.tensor(rank.number() == 0 ? Shape.of(2) : Shape.of(1, 2), 1, 2);
            assertThatThrownBy(() -> shape.add(w)).hasMessageContaining("hold different data");
        });
    }

    @Test
    void shouldAcceptOnlyPlainTensorsOntoTheMesh() {
        Ranks.run(2, rank -> {
            DTensor x = leaf(rank, ROWS, 1, 2, 3);
            assertThatThrownBy(() -> DTensors.distribute(x, rank.mesh(), REPLICATE))
                    .isInstanceOf(LayoutException.class)
                    .hasMessageContaining("distribute takes a tensor that is on no mesh, but this one is laid out"
                            + " [tp: Shard(0)]")
                    .hasMessageContaining("HINT: redistribute(...) changes a layout");
            assertThatThrownBy(() -> DTensors.fromLocal(x, rank.mesh(), ROWS))
                    .hasMessageContaining("fromLocal takes a tensor that is on no mesh");
            assertThatThrownBy(() -> MeshBorder.trusted(x, x.shape(), x.layout()))
                    .hasMessageContaining("trusted takes a tensor that is on no mesh");
            Tensor two = rank.tensor(Shape.of(2), 1, 2);
            assertThatThrownBy(() -> MeshBorder.trusted(two, Shape.of(5), rank.layout(Shape.of(5), REPLICATE)))
                    .hasMessageContaining(
                            "a tensor of shape [5] laid out [tp: Replicate] has [5] on this rank, but [2] is")
                    .hasMessageContaining("HINT: rank r of p holds ceil(n/p) elements");
            Tensor loss = two.requiresGrad(true).sum();
            assertThatThrownBy(() -> loss.backward(rank.place(Whole.of(Shape.scalar(), 1), REPLICATE)))
                    .hasMessageContaining("backward: the tensor is on no mesh, but its gradient is laid out")
                    .hasMessageContaining("HINT: give a plain gradient");
        });
    }

    @Test
    void shouldRequireTheGradientsPlacementOnLeaving() {
        Ranks.run(2, rank -> {
            DTensor x = leaf(rank, ROWS, 1, 2, 3);
            assertThatThrownBy(() -> x.toLocal(REPLICATE))
                    .isInstanceOf(LayoutException.class)
                    .hasMessageContaining("toLocal: on mesh axis 'tp' the tensor is Shard(0), so its gradient cannot be"
                            + " Replicate; HINT: it is Shard(0) in general");
            assertThatThrownBy(() -> leaf(rank, INVARIANT, 1, 2).toLocal(ROWS))
                    .hasMessageContaining("the tensor is Invariant, so its gradient cannot be Shard(0)");
            assertThatThrownBy(() -> x.toLocal(ROWS, ROWS)).hasMessageContaining("HINT: one placement for each axis");
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"Replicate", "Invariant", "Partial"})
    void shouldBringTheGradientBackAsItWasDeclared(String gradient) {
        Placement declared = List.of(REPLICATE, INVARIANT, Placement.partial()).stream()
                .filter(p -> p.toString().equals(gradient))
                .findFirst()
                .orElseThrow();
        Ranks.run(3, rank -> {
            for (Placement placement : List.of(REPLICATE, INVARIANT, Placement.partial())) {
                DTensor x = leaf(rank, placement, 1, 2);
                Tensor local = x.toLocal(declared);
                Whole due = Whole.of(Shape.of(2), 7, -3);
                local.backward(rank.tensor(
                        Shape.of(2), rank.place(due, declared).local().toDoubles()));
                assertThat(((DTensor) x.grad()).layout()).isEqualTo(x.layout().dual());
                assertThat(rank.value(x.grad()))
                        .as("%s of %s", declared, placement)
                        .containsExactly(7, -3);
            }
        });
    }

    @Test
    void shouldKeepTheCutOrderOnLeaving() {
        Ranks.run(List.of(2, 2), rank -> {
            Layout layout = rank.layout(Shape.of(8), ROWS, ROWS).withCutOrder("tp", "dp");
            DTensor x = leaf(rank, layout, 0, 1, 2, 3, 4, 5, 6, 7);
            Tensor local = x.toLocal(ROWS, ROWS);
            DTensor back = MeshBorder.trusted(local.square(), x.shape(), layout);
            assertThat(rank.value(back)).containsExactly(0, 1, 4, 9, 16, 25, 36, 49);
            back.sum().backward();
            assertThat(rank.value(x.grad())).containsExactly(0, 2, 4, 6, 8, 10, 12, 14);
            x.clearGrad();
            DTensor mapped = DTensors.localMap(l -> l.get(0).square(), List.of(layout), layout, x.shape(), x);
            mapped.sum().backward();
            assertThat(rank.value(x.grad())).containsExactly(0, 2, 4, 6, 8, 10, 12, 14);
        });
    }

    @Test
    void shouldRunLocalFunctions() {
        Ranks.run(2, rank -> {
            DTensor x = leaf(rank, ROWS, 1, 2, 3);
            DTensor w = leaf(rank, REPLICATE, 2);
            Layout pending = rank.layout(Shape.scalar(), Placement.partial());
            DTensor y = DTensors.localMap(
                    in -> in.get(0).mul(in.get(1)).sum(),
                    List.of(x.layout(), w.layout()),
                    pending,
                    Shape.scalar(),
                    x,
                    w);
            assertThat(rank.value(y)).containsExactly(12);
            y.backward();
            assertThat(rank.value(x.grad())).containsExactly(2, 2, 2);
            assertThat(rank.value(w.grad())).containsExactly(6);
            assertThatThrownBy(
                            () -> DTensors.localMap(in -> in.get(0), List.of(w.layout()), pending, Shape.scalar(), x))
                    .isInstanceOf(LayoutException.class)
                    .hasMessageContaining("localMap: argument 0 is laid out [tp: Shard(0)], but the function takes"
                            + " [tp: Replicate]; HINT: redistribute it first");
            assertThatThrownBy(() -> DTensors.localMap(in -> in.get(0), List.of(), pending, Shape.scalar(), x))
                    .hasMessageContaining("localMap: 0 layouts for 1 arguments");
        });
    }
}
