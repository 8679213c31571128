package org.tp4j.tests.comm;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.tp4j.autograd.DTensors;
import org.tp4j.autograd.Tensors;
import org.tp4j.comm.Alone;
import org.tp4j.comm.ProcessGroup;
import org.tp4j.comm.ReduceOp;
import org.tp4j.comm.Work;
import org.tp4j.layout.DTensor;
import org.tp4j.layout.Placement;
import org.tp4j.mesh.DeviceMesh;
import org.tp4j.nn.Layer;
import org.tp4j.nn.Linear;
import org.tp4j.nn.Sequential;
import org.tp4j.optim.Optimizer;
import org.tp4j.optim.SGD;
import org.tp4j.parallel.ColwiseParallel;
import org.tp4j.parallel.Parallelize;
import org.tp4j.parallel.RowwiseParallel;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.GradMode;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Scope;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.Tensor;
import org.tp4j.tests.oracle.Rank;
import org.tp4j.tests.oracle.Ranks;

/**
 * Legal programs raise no alarm: asynchronous calls on a mesh of two axes in orders that differ by rank between groups but
 * not within one, steps that end before some calls here and after them there, metrics on one rank, evaluation, steps that are
 * skipped, shards of unequal size or none at all. {@code -Dtp4j.fuzz.programs=N} draws more.
 */
class LegalProgramFuzzTest {
    private static final long PROGRAMS = Long.getLong("tp4j.fuzz.programs", 40);
    private static final int PHASES = 6;

    static LongStream seeds() {
        return LongStream.rangeClosed(1, PROGRAMS);
    }

    /** What all ranks draw alike, and what each draws by itself. */
    private record Draws(Random common, Random own) {}

    @ParameterizedTest
    @MethodSource("seeds")
    void shouldRaiseNoAlarm(long seed) {
        List<Integer> sizes =
                List.of(List.of(2, 2), List.of(1, 3), List.of(3, 2)).get((int) (seed % 3));
        Ranks.run(sizes, rank -> run(rank, new Draws(new Random(seed), new Random(seed * 31 + rank.number()))));
    }

    private static void run(Rank rank, Draws draws) {
        DeviceMesh tp = rank.mesh().slice("tp");
        Layer model = new Sequential(new Linear(3, 5, true), new Linear(5, 3, true));
        Parallelize.apply(model, tp, Map.of("0", new ColwiseParallel(), "1", new RowwiseParallel()));
        model.materialize(rank.backend(), DType.FLOAT32, 3);
        Optimizer optimizer = new SGD(model, 0.01);
        for (int phase = 0; phase < PHASES; phase++) {
            try (Scope scope = Scope.open()) {
                optimizer.clearGradients();
                train(rank, tp, model, draws.common);
                List<Work> started = startAll(rank, draws);
                boolean takesStep = draws.common.nextInt(4) > 0;
                boolean early = draws.own.nextBoolean();
                if (takesStep && early) {
                    step(optimizer, draws.common, phase);
                }
                while (!started.isEmpty()) {
                    started.remove(draws.own.nextInt(started.size())).await();
                }
                if (takesStep && !early) {
                    step(optimizer, draws.common, phase);
                }
                aside(rank, model, draws);
            }
        }
    }

    /** The same choice on every rank, whenever it comes to it. */
    private static void step(Optimizer optimizer, Random common, int phase) {
        if (phase % 2 == 0) {
            optimizer.step();
        } else {
            optimizer.stepIfFinite();
        }
    }

    /** Forward and backward on data that differs along dp and is whole along tp. */
    private static void train(Rank rank, DeviceMesh tp, Layer model, Random common) {
        int rows = 1 + common.nextInt(4);
        double[] data = common.doubles(3L * rows).toArray();
        data[0] += rank.mesh().axis("dp").coordinate();
        Tensor x = Tensors.of(rank.backend(), data, rows, 3).cast(DType.FLOAT32);
        boolean infinite = common.nextInt(6) == 0; // the step is passed over, by all ranks along dp and tp
        Tensor loss = model.apply(x).square().sum().mul(infinite ? Double.POSITIVE_INFINITY : 0.5);
        loss.backward();
        long n = common.nextInt(4); // fewer than ranks: some hold nothing
        Tensor whole = Tensors.of(rank.backend(), common.doubles(2 * n).toArray(), n, 2)
                .requiresGrad(true);
        DTensor cut = DTensors.distribute(whole, rank.mesh(), Placement.shard(0), Placement.shard(common.nextInt(2)));
        cut.mul(0.25).sum().backward();
    }

    /** Starts calls on this rank's groups: each group's in the common order, the groups in an order of this rank's own. */
    private static List<Work> startAll(Rank rank, Draws draws) {
        List<ProcessGroup> groups = List.of(
                rank.mesh().axis("dp").group(),
                rank.mesh().axis("tp").group(),
                rank.world().group());
        List<Deque<Integer>> kinds = new ArrayList<>();
        for (int g = 0; g < groups.size(); g++) {
            Deque<Integer> mine = new ArrayDeque<>();
            for (int n = draws.common.nextInt(4); n > 0; n--) {
                mine.add(draws.common.nextInt(3));
            }
            kinds.add(mine);
        }
        List<Work> started = new ArrayList<>();
        while (kinds.stream().anyMatch(mine -> !mine.isEmpty())) {
            int g = draws.own.nextInt(groups.size());
            Integer kind = kinds.get(g).pollFirst();
            if (kind != null) {
                started.add(start(rank, groups.get(g), kind));
            }
        }
        return started;
    }

    private static Work start(Rank rank, ProcessGroup group, int kind) {
        NdArray mine = NdArray.full(rank.backend(), DType.FLOAT32, Shape.of(2), rank.number());
        return switch (kind) {
            case 0 -> group.allReduce(mine, mine, ReduceOp.SUM);
            case 1 -> group.broadcast(mine, 0);
            default -> {
                long[] counts = new long[group.size()];
                java.util.Arrays.fill(counts, 2);
                Shape all = Shape.of(2L * group.size());
                yield group.allGather(mine, NdArray.allocate(rank.backend(), DType.FLOAT32, all), counts);
            }
        };
    }

    /** What is not part of the step: metrics on one rank, evaluation on those of one row. */
    @SuppressWarnings("try") // a mode that only lasts
    private static void aside(Rank rank, Layer model, Draws draws) {
        if (rank.number() == 0 && draws.own.nextBoolean()) {
            Alone.run(() -> model.parameters().get("0.weight").tensor().detach().mul(draws.own.nextDouble()));
        }
        boolean evaluates = draws.common.nextBoolean();
        if (evaluates && rank.mesh().axis("dp").coordinate() == 0) {
            try (GradMode off = GradMode.noGrad()) {
                model.eval();
                model.apply(Tensors.of(rank.backend(), new float[3], 1, 3));
                model.train();
            }
        }
    }
}
