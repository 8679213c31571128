package org.tp4j.tests.op;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tp4j.autograd.Tensors;
import org.tp4j.layout.DTensor;
import org.tp4j.layout.LayoutException;
import org.tp4j.layout.Placement;
import org.tp4j.op.BackwardContext;
import org.tp4j.op.ForwardContext;
import org.tp4j.op.LabelRule;
import org.tp4j.op.Operation;
import org.tp4j.op.ShardingRule;
import org.tp4j.op.TensorSpec;
import org.tp4j.tensor.BinaryFunction;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.Tensor;
import org.tp4j.tests.oracle.Ranks;
import org.tp4j.tests.oracle.Whole;

/** Operations defined by a user. */
class CustomOperationTest {
    private static final Whole X = Whole.of(Shape.of(5), 1, -2, 3, -4, 5);
    private static final Whole Y = Whole.of(Shape.of(5), 2, 1, -1, 3, 0.5);

    /** x · y + x, elementwise; its rule is an Einstein sum of labels. */
    private record ScaledTwice() implements Operation {
        @Override
        public String name() {
            return "scaled twice";
        }

        @Override
        public TensorSpec infer(TensorSpec... in) {
            return in[0];
        }

        @Override
        public ShardingRule rule(TensorSpec[] in, TensorSpec[] out) {
            return LabelRule.elementwise(in, out[0]).linearIn(0).build();
        }

        @Override
        public NdArray forward(ForwardContext context, NdArray... in) {
            NdArray out = context.allocate(0);
            out.backend().elementwise().binary(BinaryFunction.MUL, in[0], in[1], out);
            out.backend().elementwise().addScaled(1, in[0], out);
            return out;
        }

        @Override
        public void backward(BackwardContext c, Tensor g) {
            if (c.wants(0)) {
                c.give(0, g.mul(c.input(1)).add(g));
            }
            if (c.wants(1)) {
                c.give(1, g.mul(c.input(0)));
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4})
    void shouldShardByTheirRule(int ranks) {
        Ranks.run(ranks, rank -> {
            Tensor x1 = X.toTensor(rank.backend()).requiresGrad(true);
            Tensor y1 = Y.toTensor(rank.backend()).requiresGrad(true);
            Tensors.apply(new ScaledTwice(), x1, y1).square().sum().backward();
            for (Placement placement : List.of(Placement.shard(0), Placement.invariant())) {
                DTensor x = rank.place(X, placement);
                DTensor y = rank.place(Y, placement);
                x.requiresGrad(true);
                y.requiresGrad(true);
                Tensor loss = Tensors.apply(new ScaledTwice(), x, y).square().sum();
                loss.backward();
                assertThat(rank.value(x.grad())).containsExactly(x1.grad().toDoubles());
                assertThat(rank.value(y.grad())).containsExactly(y1.grad().toDoubles());
            }
            DTensor pending = rank.place(X, Placement.partial());
            DTensor factor = rank.place(Y, Placement.replicate());
            DTensor result = (DTensor) Tensors.apply(new ScaledTwice(), pending, factor);
            assertThat(result.layout().placement(0)).isEqualTo(Placement.partial());
            if (ranks > 1) {
                assertThatThrownBy(() -> Tensors.apply(new ScaledTwice(), factor, pending))
                        .isInstanceOf(LayoutException.class)
                        .hasMessageContaining("scaled twice: it is not linear in operand 1, which is a pending sum");
            }
        });
    }

    /** A cumulative sum: it needs whole rows, and refuses shards with a message of its own. */
    private record RunningSum(boolean twice, boolean wrongLayout) implements Operation {
        @Override
        public String name() {
            return "running sum";
        }

        @Override
        public TensorSpec infer(TensorSpec... in) {
            return in[0];
        }

        @Override
        public ShardingRule rule(TensorSpec[] in, TensorSpec[] out) {
            return new ShardingRule() {
                @Override
                public Decision decide(int axis, Operand[] operands) {
                    Placement p = operands[0].placement();
                    if (p instanceof Placement.Shard) {
                        throw new Refusal("a running sum needs all that came before", 0, Placement.invariant());
                    }
                    return new Decision(new Placement[] {p}, new Placement[] {p});
                }

                @Override
                public int inputLabel(int i, int dim) {
                    return dim;
                }

                @Override
                public int outputLabel(int i, int dim) {
                    return dim;
                }
            };
        }

        @Override
        public NdArray forward(ForwardContext context, NdArray... in) {
            NdArray out = context.allocate(0);
            double[] x = Tensors.of(in[0]).toDoubles();
            for (int i = 1; i < x.length; i++) {
                x[i] += x[i - 1];
            }
            out.assign(Tensors.of(in[0].backend(), x, x.length).local());
            return out;
        }

        @Override
        public void backward(BackwardContext c, Tensor g) {
            Tensor whole = g.sum();
            Tensor sums = c.run(new RunningSum(false, false), g);
            c.give(
                    0,
                    wrongLayout
                            ? Whole.of(Tensors.of(g.local())).toTensor(g.backend())
                            : g.sub(sums).add(whole));
            if (twice) {
                c.give(0, g);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    void shouldRefuseInTheirOwnWords(int ranks) {
        Ranks.run(ranks, rank -> {
            DTensor x = rank.place(X, Placement.shard(0));
            x.requiresGrad(true);
            assertThatThrownBy(() -> Tensors.apply(new RunningSum(false, false), x))
                    .isInstanceOf(LayoutException.class)
                    .hasMessageContaining("running sum: a running sum needs all that came before on mesh axis 'tp'")
                    .hasMessageContaining("HINT: redistribute operand 0 to Invariant on axis 'tp' first");
            Tensor y = Tensors.apply(new RunningSum(false, false), x.redistribute("tp", Placement.invariant()));
            assertThat(y.toDoubles()).containsExactly(1, -1, 2, -2, 3);
            y.mul(Y.toTensor(rank.backend())).sum().backward();
            assertThat(rank.value(x.grad())).containsExactly(5.5, 3.5, 2.5, 3.5, 0.5);
        });
    }

    @Test
    void shouldReportWhatTheirBackwardDoesWrong() {
        Ranks.run(2, rank -> {
            DTensor x = rank.place(X, Placement.invariant());
            x.requiresGrad(true);
            Tensor twice = Tensors.apply(new RunningSum(true, false), x).sum();
            assertThatThrownBy(twice::backward)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessage("backward of running sum gives operand 0 two gradients;"
                            + " HINT: add them up and give the sum");
            Tensor wrong = Tensors.apply(new RunningSum(false, true), x).sum();
            assertThatThrownBy(wrong::backward)
                    .isInstanceOf(LayoutException.class)
                    .hasMessageContaining("running sum: a gradient arrives on no mesh where [tp: Invariant] is due")
                    .hasMessageContaining("HINT: compute it with tensor operations");
        });
    }
}
