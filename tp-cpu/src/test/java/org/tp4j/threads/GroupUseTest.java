package org.tp4j.threads;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.tp4j.comm.CommunicationException;
import org.tp4j.comm.ProcessGroup;
import org.tp4j.comm.ReduceOp;
import org.tp4j.comm.Work;
import org.tp4j.comm.World;
import org.tp4j.comm.engine.EngineGroup;
import org.tp4j.comm.record.FlightRecorder;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Shape;

/** Two threads of a rank on one group. */
@Timeout(60)
class GroupUseTest {
    private static NdArray ones(World world) {
        return NdArray.full(world.backend(), DType.FLOAT32, Shape.of(4), 1);
    }

    private static Work start(World world, ProcessGroup group) {
        NdArray array = ones(world);
        return group.allReduce(array, array, ReduceOp.SUM);
    }

    private static void onOtherThread(String name, Runnable body) {
        CompletableFuture<Void> done = new CompletableFuture<>();
        new Thread(
                        () -> {
                            try {
                                body.run();
                                done.complete(null);
                            } catch (Throwable e) {
                                done.completeExceptionally(e);
                            }
                        },
                        name)
                .start();
        try {
            done.join();
        } catch (java.util.concurrent.CompletionException e) {
            throw (RuntimeException) e.getCause();
        }
    }

    @Test
    void shouldNameBothThreadsThatUseAGroupAtTheSameTime() {
        ThreadRanks.run(2, world -> {
            Work mine = start(world, world.group());
            assertThatThrownBy(() -> onOtherThread("second-model", () -> start(world, world.group())))
                    .isInstanceOf(CommunicationException.class)
                    .hasMessageContaining("two threads use group 'world' at the same time: thread 'rank-" + world.rank()
                            + "' has not awaited call 1 on group 'world': allReduce(sum, float32 [4]), and thread"
                            + " 'second-model' calls allReduce; HINT")
                    .hasMessageContaining("a group of its own with split");
            mine.await();
        });
    }

    /** The first is still in await, since the other rank has not come. */
    @Test
    void shouldNoticeAThreadThatWaits() {
        CountDownLatch noticed = new CountDownLatch(1);
        ThreadRanks.run(2, world -> {
            if (world.rank() == 1) {
                noticed.await();
                world.group().barrier();
                return;
            }
            CompletableFuture<Void> waiting =
                    CompletableFuture.runAsync(() -> world.group().barrier());
            FlightRecorder recorder = ((EngineGroup) world.group()).recorder();
            while (recorder.calls() == 0) {
                Thread.onSpinWait();
            }
            assertThatThrownBy(() -> start(world, world.group()))
                    .hasMessageContaining("two threads use group 'world' at the same time");
            noticed.countDown();
            waiting.join();
        });
    }

    @Test
    void shouldLetThreadsTakeTurns() {
        ThreadRanks.run(2, world -> {
            start(world, world.group()).await();
            onOtherThread("next", () -> start(world, world.group()).await());
            onOtherThread("next", () -> world.group().barrier());
            start(world, world.group()).await();
            Work polled = start(world, world.group());
            while (!polled.isDone()) {
                Thread.onSpinWait();
            }
            onOtherThread("last", () -> start(world, world.group()).await());
        });
    }

    @Test
    void shouldLetEachThreadHaveItsGroup() {
        ThreadRanks.run(2, world -> {
            ProcessGroup own = world.group().split("own", 0, world.rank());
            Work mine = start(world, world.group());
            onOtherThread("other", () -> start(world, own).await());
            mine.await();
        });
    }
}
