package org.tp4j.threads;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.ref.WeakReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.tp4j.comm.ProcessGroup;
import org.tp4j.comm.ReduceOp;
import org.tp4j.comm.World;
import org.tp4j.cpu.internal.memory.HostStorage;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Shape;

/** A group keeps nothing of calls that are over. */
@Timeout(60)
class ForgottenCallsTest {
    private static void awaitCollected(WeakReference<?> reference) throws InterruptedException {
        while (reference.get() != null) {
            System.gc();
            Thread.sleep(5);
        }
    }

    private static WeakReference<Object> sum(World world, ProcessGroup group) {
        NdArray array = NdArray.full(world.backend(), DType.FLOAT32, Shape.of(50_000), 1);
        group.allReduce(array, array, ReduceOp.SUM).await();
        return new WeakReference<>(((HostStorage) array.storage()).array());
    }

    private static WeakReference<Object> message(World world) {
        NdArray array = NdArray.full(world.backend(), DType.FLOAT32, Shape.of(50_000), 1);
        (world.rank() == 0 ? world.group().send(array, 1) : world.group().receive(array, 0)).await();
        return new WeakReference<>(((HostStorage) array.storage()).array());
    }

    @Test
    void shouldKeepNoArrayOfTheLatestCall() {
        ThreadRanks.run(2, world -> {
            WeakReference<Object> array = sum(world, world.group());
            world.group().barrier();
            awaitCollected(array);
            WeakReference<Object> latest = sum(world, world.group());
            awaitCollected(latest);
            WeakReference<Object> sent = message(world);
            awaitCollected(sent);
        });
    }

    @Test
    void shouldKeepNoChainOfCalls() {
        ThreadRanks.run(2, world -> {
            Exchange exchange = new Exchange(
                    new ThreadJob(1, org.tp4j.comm.CommunicationOptions.fromSystem()), "alone", java.util.List.of(0));
            ThreadGroup group = new ThreadGroup(exchange, 0);
            group.barrier();
            WeakReference<SharedCall> call = new WeakReference<>(group.latest());
            group.barrier();
            awaitCollected(call);
            assertThat(exchange.name()).isEqualTo("alone"); // and is reachable itself
            group.close();
        });
    }
}
