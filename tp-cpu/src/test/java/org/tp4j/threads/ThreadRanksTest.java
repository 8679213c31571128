package org.tp4j.threads;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.tp4j.comm.CommunicationException;
import org.tp4j.comm.CommunicationOptions;
import org.tp4j.comm.ProcessGroup;
import org.tp4j.comm.ReduceOp;
import org.tp4j.comm.Work;
import org.tp4j.comm.World;
import org.tp4j.cpu.internal.memory.HostStorage;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.ExecutionContext;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Scope;
import org.tp4j.tensor.Shape;

/** What in-JVM ranks do beyond the contract of all engines: failures, departures, late ranks. */
@Timeout(60)
class ThreadRanksTest {
    private static final CommunicationOptions OPTIONS = CommunicationOptions.fromSystem();

    private static NdArray value(World world, double value) {
        return NdArray.full(world.backend(), DType.FLOAT32, Shape.of(1), value);
    }

    private static float read(NdArray array) {
        return ((HostStorage) array.storage()).floats()[(int) array.offset()];
    }

    private static float sum(World world, ProcessGroup group, double value) {
        NdArray array = value(world, value);
        group.allReduce(array, array, ReduceOp.SUM).await();
        return read(array);
    }

    @Test
    void shouldReturnWhatEachRankReturns() {
        assertThat(ThreadRanks.call(3, world -> world.rank() * 10)).containsExactly(0, 10, 20);
    }

    @Test
    void shouldDescribeTheWorld() {
        ThreadRanks.run(2, world -> {
            assertThat(world.launcher()).isEqualTo("threads");
            assertThat(world.size()).isEqualTo(2);
            assertThat(world.localRank()).isEqualTo(world.rank());
            assertThat(world.localSize()).isEqualTo(2);
            assertThat(world.group().name()).isEqualTo("world");
            assertThat(Thread.currentThread().getName()).isEqualTo("rank-" + world.rank());
        });
    }

    @Test
    void shouldRefuseFewerThanOneRank() {
        assertThatThrownBy(() -> ThreadRanks.run(0, world -> {}))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("0 ranks");
    }

    @Test
    void shouldEndAllRanksWhenOneFailsAndShowItsException() {
        IllegalStateException own = new IllegalStateException("boom");
        Map<Integer, Throwable> seen = new ConcurrentHashMap<>();
        List<Float> results = new java.util.concurrent.CopyOnWriteArrayList<>();
        long start = System.nanoTime();
        Throwable thrown = catchThrowable(() -> ThreadRanks.run(4, world -> {
            for (int call = 1; ; call++) {
                if (call == 3 && world.rank() == 2) {
                    throw own;
                }
                try {
                    results.add(sum(world, world.group(), world.rank() + 1));
                } catch (CommunicationException e) {
                    seen.put(world.rank(), e);
                    world.close();
                    throw e;
                }
            }
        }));
        assertThat(thrown).isSameAs(own);
        assertThat(own.getSuppressed()).isEmpty(); // the others' exceptions only follow from it
        assertThat(seen.keySet()).containsExactlyInAnyOrder(0, 1, 3);
        assertThat(seen.values())
                .allSatisfy(e -> assertThat(e)
                        .hasMessageContaining("rank 2 has failed")
                        .hasMessageContaining("boom")
                        .hasMessageContaining("call 3")
                        .hasCause(own));
        assertThat(results).hasSize(8).allMatch(r -> r == 10);
        assertThat(TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - start)).isLessThan(10);
        ThreadRanks.run(
                4,
                world -> assertThat(sum(world, world.group(), world.rank() + 1)).isEqualTo(10));
    }

    @Test
    void shouldShowACheckedExceptionAsCause() {
        java.io.IOException own = new java.io.IOException("no such file");
        assertThatThrownBy(() -> ThreadRanks.run(2, world -> {
                    if (world.rank() == 1) {
                        throw own;
                    }
                    world.group().barrier();
                }))
                .hasCause(own)
                .hasMessageContaining("no such file");
    }

    @Test
    void shouldSuppressIndependentFailuresOfOtherRanks() {
        assertThatThrownBy(() -> ThreadRanks.run(2, world -> {
                    if (world.rank() == 1) {
                        assertThatThrownBy(() -> world.group().barrier()).hasMessageContaining("rank 0 has failed");
                        throw new IllegalStateException("second");
                    }
                    throw new IllegalStateException("first");
                }))
                .hasMessage("first")
                .satisfies(e -> assertThat(e.getSuppressed())
                        .singleElement()
                        .satisfies(s -> assertThat(s).hasMessage("second")));
    }

    @Test
    void shouldTellWhoeverWaitsForARankThatHasFinished() {
        assertThatThrownBy(() -> ThreadRanks.run(2, world -> {
                    if (world.rank() == 0) {
                        world.group().barrier();
                    }
                }))
                .isInstanceOf(CommunicationException.class)
                .hasMessageContaining("rank 1 has returned")
                .hasMessageContaining("call 1 on group 'world': barrier()");
    }

    @Test
    void shouldTellWhoeverWaitsForAMessageOfARankThatHasFailed() {
        assertThatThrownBy(() -> ThreadRanks.run(3, world -> {
                    if (world.rank() == 0) {
                        throw new IllegalStateException("boom");
                    }
                    world.group().receive(value(world, 0), 0).await();
                }))
                .hasMessage("boom");
    }

    @Test
    void shouldNameTheRankThatIsBehindWhenTimeRunsOut() {
        CountDownLatch over = new CountDownLatch(1);
        CyclicBarrier started = new CyclicBarrier(3);
        long start = System.nanoTime();
        assertThatThrownBy(() -> ThreadRanks.run(3, OPTIONS.withTimeoutMs(500), world -> {
                    started.await(); // the timeout is for calls, not for threads to start
                    world.group().barrier();
                    if (world.rank() == 2) {
                        over.await(20, TimeUnit.SECONDS);
                        return;
                    }
                    ExecutionContext.current().setModulePath("layers.0.mlp");
                    try {
                        sum(world, world.group(), 1);
                    } finally {
                        over.countDown();
                    }
                }))
                .isInstanceOf(CommunicationException.class)
                .hasMessageContaining("call 2 on group 'world': allReduce(sum, float32 [1]) in layers.0.mlp")
                .hasMessageContaining("; rank 2 is elsewhere: ")
                .hasMessageContaining("rank 2 has made 1 call, the last call 1 on group 'world': barrier() (done)")
                .hasMessageContaining("HINT: -Dtp4j.comm.timeoutSeconds");
        assertThat(TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start)).isBetween(500L, 10_000L);
    }

    @Test
    void shouldCompleteForWhoeverWaitsOnceAllHavePosted() throws InterruptedException {
        CountDownLatch done = new CountDownLatch(1);
        ThreadRanks.run(2, world -> {
            NdArray array = NdArray.full(world.backend(), DType.FLOAT32, Shape.of(200_000), world.rank() + 1);
            Work work = world.group().allReduce(array, array, ReduceOp.SUM);
            if (world.rank() == 0) {
                // Busy with something else: rank 1 does the whole sum, this rank's part too.
                assertThat(done.await(20, TimeUnit.SECONDS)).isTrue();
                assertThat(work.isDone()).isTrue();
                work.await();
            } else {
                work.await();
                done.countDown();
            }
            assertThat(((HostStorage) array.storage()).floats()).contains(3f).doesNotContain(1f, 2f);
        });
    }

    @Test
    void shouldTellOthersWhatOneRankRefused() {
        Map<Integer, Throwable> seen = new ConcurrentHashMap<>();
        ThreadRanks.run(2, world -> {
            NdArray array = value(world, 1);
            int root = world.rank() == 0 ? 7 : 1;
            seen.put(
                    world.rank(),
                    catchThrowable(() -> world.group().broadcast(array, root).await()));
            assertThat(sum(world, world.group(), 1)).isEqualTo(2); // the group lives on
        });
        assertThat(seen.get(0)).hasMessageContaining("root 7").hasMessageContaining("ranks 0 to 1");
        assertThat(seen.get(1)).hasMessageContaining("rank 0").hasMessageContaining("root 7");
    }

    @Test
    void shouldRefuseArraysThatWereFreedTooEarly() {
        CountDownLatch freed = new CountDownLatch(1);
        assertThatThrownBy(() -> ThreadRanks.run(2, world -> {
                    Work work;
                    try (Scope scope = Scope.open()) {
                        assertThat(scope.bytes()).isZero();
                        NdArray array = value(world, 1);
                        if (world.rank() == 1) {
                            freed.await();
                        }
                        work = world.group().allReduce(array, array, ReduceOp.SUM);
                    }
                    freed.countDown();
                    work.await();
                }))
                .isInstanceOf(CommunicationException.class)
                .hasMessageContaining("has freed an array of call 1")
                .hasMessageContaining("HINT");
    }

    @Test
    void shouldEndWhenTheCallerIsInterrupted() {
        Thread caller = Thread.currentThread();
        Thread killer = new Thread(() -> {
            try {
                Thread.sleep(200);
            } catch (InterruptedException e) {
                return;
            }
            caller.interrupt();
        });
        killer.start();
        assertThatThrownBy(() -> ThreadRanks.run(2, world -> {
                    if (world.rank() == 0) {
                        Thread.sleep(60_000);
                    }
                    world.group().barrier();
                }))
                .isInstanceOf(CommunicationException.class)
                .hasMessageContaining("interrupted");
        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    void shouldWriteEveryRanksLastCallsWhenOneFails(@TempDir Path folder) throws IOException {
        assertThatThrownBy(() -> ThreadRanks.run(2, OPTIONS.withFlightRecord(folder), world -> {
                    sum(world, world.group(), 1);
                    if (world.rank() == 1) {
                        throw new IllegalStateException("boom");
                    }
                    sum(world, world.group(), 1);
                }))
                .hasMessage("boom");
        try (Stream<Path> files = Files.list(folder)) {
            assertThat(files)
                    .hasSize(2)
                    .allSatisfy(file -> assertThat(file)
                            .content()
                            .startsWith("java.lang.IllegalStateException: boom")
                            .contains("DONE    call 1 on group 'world': allReduce(sum, float32 [1])"));
        }
    }

    @Test
    void shouldStoreTheFlightOfEachRank() {
        ThreadRanks.run(2, world -> {
            for (int i = 0; i < 300; i++) {
                sum(world, world.group(), 1);
            }
            String dump = ((org.tp4j.comm.engine.EngineGroup) world.group())
                    .recorder()
                    .dump();
            assertThat(dump).startsWith("flight record of rank " + world.rank() + ": 300 calls");
            assertThat(dump.lines()).hasSize(257); // the last 256 are kept
            assertThat(dump)
                    .contains("call 300 on group 'world': allReduce(sum, float32 [1])")
                    .contains("DONE");
        });
    }
}
