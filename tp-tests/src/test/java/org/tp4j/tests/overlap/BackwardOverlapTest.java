package org.tp4j.tests.overlap;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tp4j.autograd.DTensors;
import org.tp4j.comm.World;
import org.tp4j.comm.record.Collective;
import org.tp4j.comm.record.CommunicationLog;
import org.tp4j.comm.record.RecordingGroup;
import org.tp4j.layout.DTensor;
import org.tp4j.layout.Placement;
import org.tp4j.mesh.DeviceMesh;
import org.tp4j.tensor.Activation;
import org.tp4j.tensor.Backend;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.Tensor;
import org.tp4j.tests.oracle.Whole;
import org.tp4j.threads.ThreadRanks;

/** When collectives are started, and how many: what lets communication hide under products. */
class BackwardOverlapTest {
    private static final int TOKENS = 5;
    private static final int WIDTH = 4;
    private static final int HIDDEN = 6;
    private static final Placement REPLICATE = Placement.replicate();
    private static final Placement INVARIANT = Placement.invariant();

    /** One rank of a test: each product with the number of collectives started before it. */
    private static final class Bench {
        private final CommunicationLog log = new CommunicationLog();
        private final List<String> events = new ArrayList<>();
        private final Backend backend;
        private final DeviceMesh mesh;

        Bench(World world) {
            backend = new ListeningBackend(
                    world.backend(), (m, n, k) -> events.add(m + "x" + n + "x" + k + " after " + log.count()));
            mesh = DeviceMesh.of(
                    new RecordingGroup(world.group(), log), backend, List.of(Map.entry("tp", world.size())));
            log.clear();
        }

        DTensor leaf(Placement placement, long... sizes) {
            Shape shape = Shape.of(sizes);
            double[] elements = new double[(int) shape.elements()];
            java.util.Arrays.setAll(elements, i -> 0.1 * (i % 7) - 0.2);
            DTensor leaf = DTensors.distribute(Whole.of(shape, elements).toTensor(backend), mesh, placement);
            leaf.requiresGrad(true);
            log.clear();
            return leaf;
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 3})
    void shouldStartTheAllReduceOfTheInputGradientBeforeTheWeightGradient(int ranks) {
        ThreadRanks.run(ranks, world -> {
            Bench bench = new Bench(world);
            DTensor x = bench.leaf(INVARIANT, TOKENS, WIDTH);
            DTensor w = bench.leaf(Placement.shard(0), HIDDEN, WIDTH);
            Tensor y = x.redistribute(REPLICATE).linear(w, null).gelu();
            Tensor loss = y.sum();
            bench.log.clear();
            bench.events.clear();
            loss.backward();
            int piece = HIDDEN / ranks;
            assertThat(bench.events)
                    .containsExactly(
                            TOKENS + "x" + WIDTH + "x" + piece + " after 0", // dX
                            piece + "x" + WIDTH + "x" + TOKENS
                                    + " after 1"); // dW, the all-reduce of dX being on its way
            assertThat(bench.log.count(Collective.ALL_REDUCE)).isEqualTo(1);
            assertThat(bench.log.elements(Collective.ALL_REDUCE)).isEqualTo(TOKENS * WIDTH);
        });
    }

    @Test
    void shouldShareOneAllReduceBetweenGateAndUp() {
        ThreadRanks.run(2, world -> {
            Bench bench = new Bench(world);
            DTensor x = bench.leaf(INVARIANT, TOKENS, WIDTH);
            DTensor gate = bench.leaf(Placement.shard(0), HIDDEN, WIDTH);
            DTensor up = bench.leaf(Placement.shard(0), HIDDEN, WIDTH);
            assertThat(x.redistribute(REPLICATE)).isSameAs(x.redistribute(REPLICATE));
            Tensor g = x.redistribute(REPLICATE).linear(gate, null);
            Tensor u = x.redistribute("tp", REPLICATE).linear(up, null);
            Tensor loss = g.gated(u, Activation.SILU).sum();
            assertThat(bench.log.count()).isZero();
            bench.events.clear();
            loss.backward();
            assertThat(bench.log.count()).isEqualTo(1);
            assertThat(bench.log.elements(Collective.ALL_REDUCE)).isEqualTo(TOKENS * WIDTH);
            assertThat(bench.events).hasSize(4); // up: dX, dW; gate: dX, then the all-reduce starts, dW
            assertThat(bench.events.get(2)).endsWith(" after 0");
            assertThat(bench.events.get(3)).endsWith(" after 1");
        });
    }

    @Test
    void shouldReduceOnceForwardAndOnceBackwardInAnMlp() {
        ThreadRanks.run(2, world -> {
            Bench bench = new Bench(world);
            DTensor x = bench.leaf(INVARIANT, TOKENS, WIDTH);
            DTensor w1 = bench.leaf(Placement.shard(0), HIDDEN, WIDTH);
            DTensor b1 = bench.leaf(Placement.shard(0), HIDDEN);
            DTensor w2 = bench.leaf(Placement.shard(1), WIDTH, HIDDEN);
            DTensor b2 = bench.leaf(INVARIANT, WIDTH);
            Tensor h = x.redistribute(REPLICATE).linear(w1, b1).gelu();
            Tensor y =
                    ((DTensor) h.linear(w2, null)).redistribute("tp", INVARIANT).add(b2);
            Tensor loss = y.square().sum();
            assertThat(bench.log.count()).isEqualTo(1);
            assertThat(bench.log.elements(Collective.ALL_REDUCE)).isEqualTo(TOKENS * WIDTH);
            bench.log.clear();
            loss.backward();
            assertThat(bench.log.count()).isEqualTo(1);
            assertThat(bench.log.elements(Collective.ALL_REDUCE)).isEqualTo(TOKENS * WIDTH);
        });
    }

    @Test
    void shouldCommunicateNothingBackwardForAnInputThatNeedsNoGradient() {
        ThreadRanks.run(2, world -> {
            Bench bench = new Bench(world);
            DTensor x = bench.leaf(INVARIANT, TOKENS, WIDTH);
            x.requiresGrad(false);
            DTensor w = bench.leaf(Placement.shard(0), HIDDEN, WIDTH);
            Tensor loss = x.linear(w, null).gelu().sum(); // counts as Replicate: no f is needed
            loss.backward();
            assertThat(bench.log.count()).isZero();
            assertThat(bench.events).hasSize(2); // forward, dW
        });
    }
}
