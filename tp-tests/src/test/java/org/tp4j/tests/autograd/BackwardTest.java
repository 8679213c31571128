package org.tp4j.tests.autograd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tp4j.autograd.DTensors;
import org.tp4j.autograd.Tensors;
import org.tp4j.autograd.internal.MeshBorder;
import org.tp4j.autograd.internal.PendingGradients;
import org.tp4j.cpu.CpuBackend;
import org.tp4j.layout.DTensor;
import org.tp4j.layout.LayoutException;
import org.tp4j.layout.Placement;
import org.tp4j.tensor.Activation;
import org.tp4j.tensor.Backend;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.GradMode;
import org.tp4j.tensor.Scope;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.Tensor;
import org.tp4j.tests.oracle.Ranks;
import org.tp4j.tests.oracle.Whole;

/** What backward passes allow and what they refuse. */
class BackwardTest {
    private static final Backend BACKEND = CpuBackend.get();
    private static final Placement INVARIANT = Placement.invariant();
    private static final Placement REPLICATE = Placement.replicate();

    private static Tensor leaf(double... elements) {
        return Tensors.of(BACKEND, elements, elements.length).requiresGrad(true);
    }

    @Test
    void shouldRefuseASecondBackward() {
        Tensor x = leaf(1, 2);
        Tensor loss = x.square().sum();
        loss.backward();
        assertThatThrownBy(loss::backward)
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("backward has run through sum before, and what it kept is gone;"
                        + " HINT: compute the loss again, or add losses up first");
        assertThat(x.grad().toDoubles()).containsExactly(2, 4);
        x.square().sum().backward(); // computed again, it adds up
        assertThat(x.grad().toDoubles()).containsExactly(4, 8);
        x.clearGrad();
        assertThat(x.grad()).isNull();
    }

    @Test
    void shouldLetTwoLossesShareWhatIsNotSpent() {
        Ranks.run(2, rank -> {
            DTensor w = rank.place(Whole.of(Shape.of(4), 1, 2, 3, 4), Placement.shard(0));
            w.requiresGrad(true);
            Tensor first = w.redistribute(REPLICATE).square().sum();
            Tensor second = w.redistribute(REPLICATE).mul(3).sum();
            ((DTensor) first).redistribute(INVARIANT).backward();
            ((DTensor) second).redistribute(INVARIANT).backward();
            assertThat(rank.value(w.grad())).containsExactly(5, 7, 9, 11);
        });
    }

    @Test
    void shouldWorkAfterABackwardThatFailed() {
        Tensor x = leaf(1, 2);
        Tensor shared = x.mul(2);
        Tensor saved = shared.add(1);
        Tensor doomed = saved.square().sum();
        saved.local().assign(Tensors.zeros(BACKEND, DType.FLOAT64, Shape.of(2)).local());
        assertThatThrownBy(doomed::backward).hasMessageContaining("changed in place");
        shared.sum().backward(); // what the failed pass did not reach is as before
        assertThat(x.grad().toDoubles()).containsExactly(2, 2);
    }

    @ParameterizedTest
    @ValueSource(strings = {"operand", "result"})
    void shouldDetectThatASavedTensorWasChangedInPlace(String what) {
        Tensor x = leaf(1, 2);
        Tensor h = x.mul(1);
        Tensor y = what.equals("operand") ? h.square() : h.exp();
        Tensor loss = y.sum();
        Tensor changed = what.equals("operand") ? h : y;
        changed.local()
                .assign(Tensors.zeros(BACKEND, DType.FLOAT64, Shape.of(2)).local());
        assertThatThrownBy(loss::backward)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining(
                        "needs " + what + " 0 of shape [2] as it was, but it has been changed in place since")
                .hasMessageContaining("HINT: run backward before the change, or change a copy");
    }

    @Test
    void shouldAllowChangesOfWhatWasNotSaved() {
        Tensor x = leaf(1, 2);
        Tensor h = x.mul(2);
        Tensor loss = h.add(1).sum();
        h.local().assign(Tensors.zeros(BACKEND, DType.FLOAT64, Shape.of(2)).local());
        loss.backward();
        assertThat(x.grad().toDoubles()).containsExactly(2, 2);
    }

    @Test
    void shouldRefuseToStartBackwardFromWhatIsNotALoss() {
        assertThatThrownBy(() -> leaf(1, 2).mul(2).backward())
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("backward() starts at a scalar, but this tensor has shape [2]")
                .hasMessageContaining("HINT: reduce it with sum() or mean(), or give its gradient: backward(gradient)");
        assertThatThrownBy(() -> leaf(1).detach().sum().backward())
                .hasMessageContaining("that no gradient flows through")
                .hasMessageContaining("HINT: requiresGrad(true)");
        Tensor unrecorded;
        try (GradMode off = GradMode.noGrad()) {
            unrecorded = leaf(1).sum();
        }
        assertThatThrownBy(unrecorded::backward).hasMessageContaining("no GradMode.noGrad() around the forward pass");
        assertThatThrownBy(() -> leaf(1, 2).mul(2).backward(leaf(1)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("the gradient of float64[2] is given as float64[1]")
                .hasMessageContaining("HINT: it has the same shape and type");
        assertThatThrownBy(() -> leaf(1, 2).mul(2).requiresGrad(false))
                .hasMessageContaining(
                        "requiresGrad is set on leaves, but this tensor of shape [2] was computed by scale")
                .hasMessageContaining("HINT: detach() it first");
        assertThatThrownBy(() -> Tensors.of(BACKEND, new long[1], 1).requiresGrad(true))
                .hasMessageContaining("a tensor of type int64 has no gradient; HINT: use a float type");
        assertThatThrownBy(() -> leaf(1, 2).item()).hasMessageContaining("it has 2 elements, not one");
        assertThatThrownBy(() -> leaf(1).toLongs()).hasMessageContaining("HINT: cast it to int64 first");
    }

    @Test
    void shouldStartOnlyOnInvariantAndPendingAxes() {
        Ranks.run(2, rank -> {
            for (Placement refused : new Placement[] {REPLICATE}) {
                DTensor loss = (DTensor) scalar(rank, refused).mul(2);
                assertThatThrownBy(loss::backward)
                        .isInstanceOf(LayoutException.class)
                        .hasMessage(
                                "backward(): a loss must be Invariant or a pending sum on every axis, but on mesh axis"
                                        + " 'tp' it is " + refused
                                        + "; HINT: redistribute(\"tp\", Placement.invariant()) first");
                DTensor leaf = scalar(rank, refused);
                ((DTensor) leaf.mul(2)).redistribute("tp", INVARIANT).backward();
                assertThat(rank.value(leaf.grad())).containsExactly(2);
            }
            for (Placement right : new Placement[] {INVARIANT, Placement.partial()}) {
                DTensor leaf = scalar(rank, right);
                leaf.mul(3).backward();
                assertThat(rank.value(leaf.grad())).containsExactly(3);
            }
            DTensor row = rank.place(Whole.of(Shape.of(1), 5), Placement.shard(0));
            row.requiresGrad(true);
            assertThatThrownBy(row.mul(2)::backward).hasMessageContaining("on mesh axis 'tp' it is Shard(0)");
        });
    }

    private static DTensor scalar(org.tp4j.tests.oracle.Rank rank, Placement placement) {
        DTensor leaf = rank.place(Whole.of(Shape.scalar(), 5), placement);
        leaf.requiresGrad(true);
        return leaf;
    }

    @Test
    void shouldRefuseItemOfAPendingSum() {
        Ranks.run(2, rank -> {
            DTensor pending = scalar(rank, Placement.partial());
            assertThatThrownBy(pending::item)
                    .isInstanceOf(LayoutException.class)
                    .hasMessageContaining(
                            "item() of a tensor laid out [tp: Partial]: on mesh axis 'tp' its value is pending")
                    .hasMessageContaining("HINT: redistribute(\"tp\", Placement.invariant()) first");
            assertThat(pending.redistribute("tp", INVARIANT).item()).isEqualTo(5);
        });
    }

    @Test
    void shouldRefuseMemoryThatItsScopeHasFreed() {
        Tensor x = leaf(1, 2);
        Tensor freed;
        Tensor kept;
        try (Scope scope = Scope.open()) {
            freed = x.mul(2);
            kept = scope.keep(x.mul(3));
            freed.sum().backward();
        }
        assertThatThrownBy(freed::toDoubles)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("is used after its scope has freed it")
                .hasMessageContaining("HINT: keep what must outlive a scope with Scope.keep(tensor)");
        assertThatThrownBy(() -> freed.add(1)).hasMessageContaining("is used after its scope has freed it");
        assertThat(kept.toDoubles()).containsExactly(3, 6);
        assertThat(x.grad().toDoubles()).containsExactly(2, 2); // gradients outlive the scope
    }

    @Test
    void shouldKeepGradientsOfTwoOperandsApart() {
        // the gradient of the sum serves both operands; x's accumulator must not change what is yet to flow to c
        Tensor x = leaf(0.3, -0.2);
        Tensor b = leaf(0.1, 0.4);
        UnaryOperator<Tensor> model = other -> {
            Tensor c = b.mul(2);
            Tensor s = x.square();
            return other == null
                    ? x.add(c).sum().add(s.sum())
                    : x.biasActivation(c, Activation.GELU).sum().add(s.sum());
        };
        model.apply(null).backward();
        assertThat(b.grad().toDoubles()).containsExactly(2, 2);
        b.clearGrad();
        x.clearGrad();
        model.apply(x).backward();
        double[] fused = b.grad().toDoubles();
        b.clearGrad();
        x.clearGrad();
        x.add(b.mul(2)).gelu().sum().add(x.square().sum()).backward();
        assertThat(fused)
                .usingComparatorWithPrecision(1e-12)
                .containsExactly(b.grad().toDoubles());
    }

    @Test
    void shouldShowAPromotedParametersGradientAsPendingUntilItIsSummed() {
        Ranks.run(3, rank -> {
            DTensor w = MeshBorder.parameter(
                    rank.tensor(Shape.of(2), 1, 2).local(), Shape.of(2), rank.layout(Shape.of(2), INVARIANT));
            DTensor x = rank.place(Whole.of(Shape.of(3, 2), 1, 2, 3, 4, 5, 6), Placement.shard(0));
            x.mul(w).sum().backward();
            DTensor grad = (DTensor) w.grad();
            assertThat(grad.layout().placement(0)).isEqualTo(Placement.partial());
            assertThat(grad.local().toDoubles()).containsExactly(2 * rank.number() + 1, 2 * rank.number() + 2);
            w.mul(10).sum().backward(); // complete as it arrives: it enters the pending sum once
            assertThat(rank.value(w.grad())).containsExactly(1 + 3 + 5 + 10, 2 + 4 + 6 + 10);
            PendingGradients.sum(java.util.List.of(w));
            assertThat(((DTensor) w.grad()).layout().placement(0)).isEqualTo(INVARIANT);
            assertThat(w.grad().local().toDoubles()).containsExactly(19, 22);
        });
    }

    /** A sum hands the same gradient to both operands. What else arrives at one of them must not show in the other's. */
    @Test
    void shouldNotAddToAGradientThatOthersHold() {
        Tensor x = leaf(1, 2);
        Tensor y = leaf(3, 4);
        Tensor u = x.mul(1);
        Tensor v = y.mul(1);
        Tensor later = u.mul(12); // after the sum has given its gradient, and before v takes it
        u.add(v).mul(3).sum().add(later.sum()).backward();
        assertThat(x.grad().toDoubles()).containsExactly(15, 15);
        assertThat(y.grad().toDoubles()).containsExactly(3, 3);
        x.clearGrad();
        y.clearGrad();
        Tensor a = x.mul(1);
        Tensor b = y.mul(1);
        Tensor flat = b.reshape(2, 1).reshape(2);
        Tensor first = a.mul(5);
        Tensor second = flat.mul(7);
        a.add(flat).add(a).sum().add(first.sum()).add(second.sum()).backward();
        assertThat(x.grad().toDoubles()).containsExactly(7, 7);
        assertThat(y.grad().toDoubles()).containsExactly(8, 8);
    }

    @Test
    void shouldNotAddToAGradientThatOthersHoldOnTheMesh() {
        for (Placement placement : new Placement[] {Placement.shard(0), INVARIANT, Placement.partial()}) {
            Ranks.run(2, rank -> {
                DTensor x = rank.place(Whole.of(Shape.of(4), 1, 2, 3, 4), placement);
                DTensor y = rank.place(Whole.of(Shape.of(4), 5, 6, 7, 8), placement);
                x.requiresGrad(true);
                y.requiresGrad(true);
                Tensor u = x.mul(1);
                Tensor v = y.mul(1);
                Tensor later = u.mul(12);
                u.add(v).mul(3).sum().add(later.sum()).backward();
                assertThat(rank.value(x.grad())).containsOnly(15);
                assertThat(rank.value(y.grad())).containsOnly(3);
            });
        }
    }

    /** 1/3 is not a 32-bit float, and 2^24 + 1 neither. */
    @Test
    void shouldSumPendingGradientsOfSeveralTypes() {
        Ranks.run(3, rank -> {
            List<Tensor> leaves = new ArrayList<>();
            for (DType dtype : List.of(DType.FLOAT32, DType.FLOAT64, DType.FLOAT32, DType.FLOAT64)) {
                Tensor ones = Whole.tensor(rank.backend(), dtype, new double[] {1, 1}, Shape.of(2));
                DTensor w = MeshBorder.parameter(ones.local(), Shape.of(2), rank.layout(Shape.of(2), INVARIANT));
                double part = dtype == DType.FLOAT64 ? 1.0 / 3 : 0.25;
                double[] elements = {part, 1 << 24, part, 1, part, 0};
                Tensor x = Whole.tensor(rank.backend(), dtype, elements, Shape.of(3, 2));
                DTensors.distribute(x, rank.mesh(), Placement.shard(0))
                        .mul(w)
                        .sum()
                        .backward();
                leaves.add(w);
            }
            PendingGradients.sum(leaves);
            for (Tensor w : leaves) {
                boolean wide = w.dtype() == DType.FLOAT64;
                assertThat(w.grad().dtype()).isEqualTo(w.dtype());
                assertThat(rank.value(w.grad())).containsExactly(wide ? 1 : 0.75, wide ? (1 << 24) + 1 : 1 << 24);
            }
        });
    }
}
