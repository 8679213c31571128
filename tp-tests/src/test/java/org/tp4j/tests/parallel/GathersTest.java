package org.tp4j.tests.parallel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.tp4j.autograd.DTensors;
import org.tp4j.autograd.Tensors;
import org.tp4j.comm.World;
import org.tp4j.comm.record.Collective;
import org.tp4j.comm.record.CommunicationLog;
import org.tp4j.comm.record.RecordingGroup;
import org.tp4j.layout.DTensor;
import org.tp4j.layout.Placement;
import org.tp4j.mesh.DeviceMesh;
import org.tp4j.nn.Layer;
import org.tp4j.nn.Linear;
import org.tp4j.parallel.ColwiseParallel;
import org.tp4j.parallel.ParallelStyle;
import org.tp4j.parallel.Parallelize;
import org.tp4j.parallel.PrepareModuleInput;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.GradMode;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Scope;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.Tensor;
import org.tp4j.threads.ThreadRanks;

/** What a module's parts gather is freed when it returns and gathered again for backward, once for all of them. */
class GathersTest {
    private static final int ROWS = 6;
    private static final int D = 4;

    /** Three projections of one input, such as attention's q, k and v. */
    private static final class Three extends Layer {
        private final Linear q = child("q", new Linear(D, 2 * D, false));
        private final Linear k = child("k", new Linear(D, 2 * D, false));
        private final Linear v = child("v", new Linear(D, 2 * D, false));
        private @Nullable NdArray gathered;

        @Override
        protected Tensor forward(Tensor x) {
            gathered = ((DTensor) x).local();
            return q.apply(x).mul(k.apply(x)).add(v.apply(x));
        }
    }

    /** Calls its part as a block of a model does. */
    private static final class Block extends Layer {
        private final Layer part;

        Block(Layer part) {
            this.part = child("part", part);
        }

        @Override
        protected Tensor forward(Tensor x) {
            return part.apply(x);
        }
    }

    private record Setup(Layer model, CommunicationLog log, DTensor x) {
        static Setup of(World world, Layer model, Map<String, ParallelStyle> plan) {
            return of(world, 2, model, plan);
        }

        static Setup of(World world, int ranks, Layer model, Map<String, ParallelStyle> plan) {
            CommunicationLog log = new CommunicationLog();
            DeviceMesh mesh = DeviceMesh.of(
                    new RecordingGroup(world.group(), log), world.backend(), List.of(Map.entry("tp", ranks)));
            Parallelize.apply(model, mesh, plan);
            model.materialize(world.backend(), DType.FLOAT32, 3);
            Tensor whole = Tensors.normal(world.backend(), DType.FLOAT32, Shape.of(ROWS, D), 0, 1, 5, 5);
            return new Setup(model, log, DTensors.distribute(whole, mesh, Placement.shard(0)));
        }
    }

    private static final Map<String, ParallelStyle> EACH =
            Map.of("part.q", new ColwiseParallel(), "part.k", new ColwiseParallel(), "part.v", new ColwiseParallel());

    private static final Map<String, ParallelStyle> TOGETHER = Map.of(
            "part", new PrepareModuleInput(Placement.shard(0), Placement.replicate()),
            "part.q", new ColwiseParallel(),
            "part.k", new ColwiseParallel(),
            "part.v", new ColwiseParallel());

    @Test
    void shouldGatherOnceForwardAndOnceBackwardForSeveralProjections() {
        for (Map<String, ParallelStyle> plan : List.of(EACH, TOGETHER)) {
            ThreadRanks.run(2, world -> {
                try (Scope scope = Scope.open()) {
                    Setup setup = Setup.of(world, new Block(new Three()), plan);
                    setup.model.apply(setup.x); // compares its parameters' inputs once
                    setup.log.clear();
                    Tensor y = setup.model.apply(setup.x);
                    assertThat(setup.log.count(Collective.ALL_GATHER)).isOne();
                    y.sum().backward();
                    assertThat(setup.log.count(Collective.ALL_GATHER)).isEqualTo(2);
                }
            });
        }
    }

    @Test
    void shouldHoldOnlyTheShardBetweenForwardAndBackward() {
        ThreadRanks.run(2, world -> {
            try (Scope scope = Scope.open()) {
                Three three = new Three();
                Setup setup = Setup.of(world, new Block(three), TOGETHER);
                Tensor y = setup.model.apply(setup.x);
                NdArray gathered = java.util.Objects.requireNonNull(three.gathered);
                assertThat(gathered.shape()).isEqualTo(Shape.of(ROWS, D));
                assertThat(gathered.storage().isReleased()).isTrue();
                y.sum().backward();
                assertThat(setup.x.local().storage().isReleased()).isFalse();
            }
        });
    }

    @Test
    void shouldFreeWithoutGradientsToo() {
        ThreadRanks.run(2, world -> {
            try (Scope scope = Scope.open();
                    GradMode off = GradMode.noGrad()) {
                Three three = new Three();
                Setup setup = Setup.of(world, new Block(three), TOGETHER);
                setup.model.apply(setup.x);
                assertThat(java.util.Objects.requireNonNull(three.gathered)
                                .storage()
                                .isReleased())
                        .isTrue();
            }
        });
    }

    @Test
    void shouldKeepWhatTheModuleReturnsOrAStepNeedsAsAView() {
        ThreadRanks.run(2, world -> {
            try (Scope scope = Scope.open()) {
                Layer returns = new Block(new Layer() {
                    @Override
                    protected Tensor forward(Tensor x) {
                        return x.reshape(ROWS * D);
                    }
                });
                Map<String, ParallelStyle> plan =
                        Map.of("part", new PrepareModuleInput(Placement.shard(0), Placement.invariant()));
                Setup setup = Setup.of(world, returns, plan);
                assertThat(((DTensor) setup.model.apply(setup.x))
                                .local()
                                .storage()
                                .isReleased())
                        .isFalse();

                Layer squares = new Block(new Layer() {
                    @Override
                    protected Tensor forward(Tensor x) {
                        Tensor view = x.reshape(ROWS * D);
                        return view.mul(view);
                    }
                });
                Setup viewed = Setup.of(world, squares, plan);
                viewed.x.requiresGrad(true);
                viewed.model.apply(viewed.x).sum().backward();
                Tensor grad = java.util.Objects.requireNonNull(viewed.x.grad());
                assertThat(grad.local().elements()).isEqualTo(ROWS * D / 2);
            }
        });
    }

    @Test
    void shouldNotFreeWhatTheUserHasGathered() {
        ThreadRanks.run(2, world -> {
            try (Scope scope = Scope.open()) {
                Setup setup = Setup.of(world, 2, new Block(new Three()), TOGETHER);
                DTensor before = setup.x.redistribute("tp", Placement.replicate());
                setup.model.apply(setup.x).sum().backward();
                DTensor after = setup.x.redistribute("tp", Placement.replicate());
                assertThat(before.local().elements()).isEqualTo(ROWS * D);
                assertThat(after.local().elements()).isEqualTo(ROWS * D);
            }
        });
    }

    @Test
    void shouldNotFreeTheShardWhereItIsTheWhole() {
        ThreadRanks.run(1, world -> {
            try (Scope scope = Scope.open()) {
                Setup setup = Setup.of(world, 1, new Block(new Three()), TOGETHER);
                setup.model.apply(setup.x).sum().backward();
                assertThat(setup.x.local().elements()).isEqualTo(ROWS * D);
            }
        });
    }

    @Test
    void shouldRefuseBackwardAfterTheShardHasChanged() {
        ThreadRanks.run(2, world -> {
            try (Scope scope = Scope.open()) {
                Setup setup = Setup.of(world, new Block(new Three()), TOGETHER);
                Tensor loss = setup.model.apply(setup.x).sum();
                setup.x.local().assign(setup.x.local().copy());
                assertThatThrownBy(loss::backward).hasMessageContaining("changed in place since");
            }
        });
    }
}
