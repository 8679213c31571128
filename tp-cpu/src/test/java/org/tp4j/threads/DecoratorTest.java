package org.tp4j.threads;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.tp4j.comm.CommunicationException;
import org.tp4j.comm.ProcessGroup;
import org.tp4j.comm.ReduceOp;
import org.tp4j.comm.World;
import org.tp4j.comm.engine.FakeGroup;
import org.tp4j.comm.record.CheckingGroup;
import org.tp4j.comm.record.Collective;
import org.tp4j.comm.record.CommunicationLog;
import org.tp4j.comm.record.RecordingGroup;
import org.tp4j.cpu.CpuBackend;
import org.tp4j.cpu.internal.memory.HostStorage;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.ExecutionContext;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Shape;

/** Groups that record, check or pretend. */
@Timeout(60)
class DecoratorTest {
    private static NdArray floats(long n, double value) {
        return NdArray.full(CpuBackend.get(), DType.FLOAT32, Shape.of(n), value);
    }

    private static float[] read(NdArray array) {
        float[] all = ((HostStorage) array.storage()).floats();
        return java.util.Arrays.copyOfRange(all, (int) array.offset(), (int) (array.offset() + array.elements()));
    }

    @Test
    void shouldRecordCallsWithModuleTypeAndSize() {
        ThreadRanks.run(2, world -> {
            CommunicationLog log = new CommunicationLog();
            ProcessGroup group = new RecordingGroup(world.group(), log);
            String before = ExecutionContext.current().setModulePath("layers.0.mlp.down_proj");
            group.allReduce(floats(6, 1), floats(6, 0), ReduceOp.SUM).await();
            ExecutionContext.current().setModulePath("layers.1");
            group.allGather(floats(3, 1), floats(6, 0), new long[] {3, 3}).await();
            ExecutionContext.current().setModulePath(before);
            ProcessGroup sub = group.split("pair", 0, 0);
            sub.allReduce(floats(1, 1), floats(1, 0), ReduceOp.MAX).await();
            group.barrier();

            assertThat(log.count()).isEqualTo(4);
            assertThat(log.count(Collective.ALL_REDUCE)).isEqualTo(2);
            assertThat(log.count(Collective.ALL_REDUCE, "layers.0")).isEqualTo(1);
            assertThat(log.count(Collective.ALL_REDUCE, "layers")).isEqualTo(1);
            assertThat(log.count(Collective.ALL_REDUCE, "layers.0.mlp.down")).isZero();
            assertThat(log.elements(Collective.ALL_GATHER)).isEqualTo(6);
            assertThat(log.bytes()).isEqualTo(4 * (6 + 6 + 1));
            assertThat(log.entries().get(0))
                    .isEqualTo(new CommunicationLog.Entry(
                            Collective.ALL_REDUCE,
                            "world",
                            2,
                            DType.FLOAT32,
                            6,
                            ReduceOp.SUM,
                            "layers.0.mlp.down_proj"));
            assertThat(log.entries().get(2).group()).isEqualTo("pair");
            assertThat(log.table()).contains("allReduce", "layers.0.mlp.down_proj", "4 calls, 52 bytes");
            log.clear();
            assertThat(log.entries()).isEmpty();
        });
    }

    @Test
    void shouldRecordBelowAndAboveChecking() {
        ThreadRanks.run(2, world -> {
            CommunicationLog below = new CommunicationLog();
            CommunicationLog above = new CommunicationLog();
            ProcessGroup group = new RecordingGroup(
                    new CheckingGroup(new RecordingGroup(world.group(), below), world.backend()), above);
            ProcessGroup sub = group.partition("both", List.of(List.of(1, 0)));
            sub.allReduce(floats(4, 1), floats(4, 0), ReduceOp.SUM).await();
            assertThat(above.count()).isEqualTo(1);
            assertThat(below.count(Collective.ALL_GATHER)).isEqualTo(2); // signatures: of the split, of the call
            assertThat(below.count(Collective.ALL_REDUCE)).isEqualTo(1);
        });
    }

    @Test
    void shouldNameBothCallSitesInCheckingMode() {
        Map<Integer, String> messages = new ConcurrentHashMap<>();
        ThreadRanks.run(2, world -> {
            ProcessGroup group = new CheckingGroup(world.group(), world.backend());
            ExecutionContext.current().setModulePath("module" + world.rank());
            try {
                group.allReduce(floats(2 + world.rank(), 1), floats(2 + world.rank(), 1), ReduceOp.SUM);
            } catch (CommunicationException e) {
                messages.put(world.rank(), String.valueOf(e.getMessage()));
            }
        });
        assertThat(messages).hasSize(2);
        assertThat(messages.values())
                .allSatisfy(message -> assertThat(message)
                        .contains("rank 0 calls allReduce(sum, float32 [2]) in module0 at ")
                        .contains("rank 1 calls allReduce(sum, float32 [3]) in module1 at ")
                        .contains("DecoratorTest"));
    }

    @Test
    void shouldTellAllWhenOneRefusesInCheckingMode() {
        Map<Integer, String> messages = new ConcurrentHashMap<>();
        ThreadRanks.run(3, world -> {
            ProcessGroup group = new CheckingGroup(world.group(), world.backend());
            try {
                group.broadcast(floats(1, 1), world.rank() == 1 ? 9 : 0).await();
            } catch (CommunicationException e) {
                messages.put(world.rank(), String.valueOf(e.getMessage()));
            }
        });
        assertThat(messages).hasSize(3);
        assertThat(messages.values()).allSatisfy(message -> assertThat(message).contains("root 9"));
    }

    @Test
    void shouldCheckMessagesAtTheReceiver() {
        assertThatThrownBy(() -> ThreadRanks.run(2, world -> {
                    ProcessGroup group = new CheckingGroup(world.group(), world.backend());
                    if (world.rank() == 0) {
                        group.send(floats(3, 1), 1);
                        world.group().barrier();
                    } else {
                        group.receive(floats(4, 1), 0).await();
                    }
                }))
                .isInstanceOf(CommunicationException.class)
                .hasMessageContaining("rank 0 calls send(float32 [3], to rank 1)")
                .hasMessageContaining("rank 1 calls receive(float32 [4], from rank 0)");
    }

    @Test
    void shouldPretendToBeARank() {
        FakeGroup group = new FakeGroup(1, 4);
        assertThat(group.size()).isEqualTo(4);
        NdArray in = floats(2, 0);
        ((HostStorage) in.storage()).floats()[0] = 5;
        ((HostStorage) in.storage()).floats()[1] = 6;
        NdArray out = floats(8, 0);
        group.allGather(in, out, new long[] {2, 2, 2, 2}).await();
        assertThat(read(out)).containsExactly(5, 6, 5, 6, 5, 6, 5, 6);
        NdArray piece = floats(1, 0);
        group.reduceScatter(in, piece, new long[] {1, 1, 0, 0}, ReduceOp.SUM).await();
        assertThat(read(piece)).containsExactly(6);
        group.allReduce(in, in, ReduceOp.SUM).await();
        assertThat(read(in)).containsExactly(5, 6);
        group.barrier();
        ProcessGroup pair = group.partition("pair", List.of(List.of(0, 2), List.of(3, 1)));
        assertThat(pair.worldRanks()).containsExactly(3, 1);
        assertThat(pair.rank()).isEqualTo(1);
        assertThatThrownBy(() -> group.split("pair", 0, 0)).hasMessageContaining("HINT: use partition");
        assertThat(group.recorder().calls()).isEqualTo(5);
    }

    @Test
    void shouldWorkForAWorldOfOne() {
        ThreadRanks.run(1, (World world) -> {
            NdArray array = floats(3, 2);
            world.group().allReduce(array, array, ReduceOp.AVG).await();
            assertThat(read(array)).containsExactly(2, 2, 2);
        });
    }
}
