package org.tp4j.tests.nccl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.tp4j.comm.CommunicationException;
import org.tp4j.comm.ReduceOp;
import org.tp4j.comm.Work;
import org.tp4j.comm.World;
import org.tp4j.cuda.CudaBackend;
import org.tp4j.tensor.CapturedStep;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Scope;
import org.tp4j.tensor.Shape;
import org.tp4j.threads.ThreadRanks;

/** Ranks as threads over NCCL: what ends them, that a device can be used again afterwards, and that calls do not wait. */
@Timeout(60)
class NcclThreadsTest {
    @BeforeAll
    static void needsSimulator() {
        Simulator.assumeBuilt();
    }

    private static NdArray array(World world, float value) {
        NdArray array = NdArray.allocate(world.backend(), DType.FLOAT32, Shape.of(1));
        write(array, value);
        return array;
    }

    private static void write(NdArray array, float value) {
        array.backend()
                .copyIn(ByteBuffer.allocate(4).order(ByteOrder.LITTLE_ENDIAN).putFloat(0, value), array);
    }

    private static float read(NdArray array) {
        ByteBuffer buffer = ByteBuffer.allocate(4).order(ByteOrder.LITTLE_ENDIAN);
        array.backend().copyOut(array, buffer);
        return buffer.getFloat(0);
    }

    private static float sum(World world) {
        NdArray array = array(world, world.rank() + 1);
        world.group().allReduce(array, array, ReduceOp.SUM).await();
        return read(array);
    }

    /** Takes what only the first job does, such as compiling kernels, out of a short timeout. */
    private static void warmUp() {
        ThreadRanks.call("cuda", 2, Simulator.options(), world -> {
            NdArray value = array(world, 1);
            try (CapturedStep step = world.backend()
                    .capture(() ->
                            world.group().allReduce(value, value, ReduceOp.SUM).await())) {
                for (int run = 0; run < 4; run++) {
                    step.run();
                }
            }
            return read(value);
        });
    }

    /** Makes no call, however long the others take to give up; throws when they have. */
    private static void stayAway(World world) throws InterruptedException {
        CudaBackend backend = (CudaBackend) world.backend();
        while (true) {
            Thread.sleep(10);
            backend.checkUsable();
        }
    }

    @Test
    void shouldEndAllWhenARankThrowsAndStartAnewOnTheSameDevices() {
        for (int round = 0; round < 2; round++) {
            String[] heard = new String[1];
            CyclicBarrier summed = new CyclicBarrier(3);
            assertThatThrownBy(() -> ThreadRanks.call("cuda", 3, Simulator.options(), world -> {
                        sum(world);
                        summed.await(); // it is the second call that the others are in
                        if (world.rank() == 1) {
                            throw new IllegalStateException("boom");
                        }
                        try {
                            return sum(world);
                        } catch (CommunicationException e) {
                            heard[0] = e.getMessage();
                            throw e;
                        }
                    }))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessage("boom");
            assertThat(heard[0]).startsWith("rank 1 has failed: java.lang.IllegalStateException: boom; rank ");
            assertThat(ThreadRanks.call("cuda", 3, Simulator.options(), NcclThreadsTest::sum))
                    .containsExactly(6f, 6f, 6f);
        }
    }

    @Test
    void shouldThrowFromWhateverTheRankDoesNextWhenTimeRunsOut() {
        warmUp();
        assertThatThrownBy(() -> ThreadRanks.call("cuda", 2, Simulator.options().withTimeoutMs(2000), world -> {
                    sum(world);
                    if (world.rank() == 1) {
                        stayAway(world);
                    }
                    NdArray array = array(world, 1);
                    Work work = world.group().allReduce(array, array, ReduceOp.SUM);
                    work.await(); // makes the device wait, not the host
                    String late = "rank 1 is elsewhere: rank 1 has made 1 call";
                    assertThatThrownBy(() -> read(array)).hasMessageContaining(late); // waits, until time runs out
                    assertThatThrownBy(work::await).hasMessageContaining(late);
                    assertThatThrownBy(work::isDone).hasMessageContaining(late);
                    assertThatThrownBy(() -> world.backend().synchronize()).hasMessageContaining(late);
                    assertThatThrownBy(() -> array(world, 1)).hasMessageContaining(late);
                    world.group().allReduce(array, array, ReduceOp.SUM);
                    return true;
                }))
                .isInstanceOf(CommunicationException.class)
                .hasMessageContaining("in call 2 on group 'world': allReduce(sum, float32 [1]); rank 1 is elsewhere");
    }

    @Test
    void shouldComeAfterWhatTheDeviceWasAskedBeforeAndBeforeWhatItIsAskedNext() {
        int n = 256;
        ThreadRanks.call("cuda", 2, Simulator.options(), world -> {
            NdArray ones = ones(world, n);
            NdArray product = NdArray.allocate(world.backend(), DType.FLOAT32, Shape.of(n, n));
            NdArray square = NdArray.allocate(world.backend(), DType.FLOAT32, Shape.of(n, n));
            for (int i = 0; i < 20; i++) { // again and again: whoever does not wait for the last is overwritten by it
                multiply(ones, ones, product, n);
            }
            Work work = world.group().allReduce(product, product, ReduceOp.SUM);
            work.await();
            multiply(product, ones, square, n);
            assertThat(first(square)).isEqualTo(2f * n * n);
            return true;
        });
    }

    private static NdArray ones(World world, int n) {
        NdArray array = NdArray.allocate(world.backend(), DType.FLOAT32, Shape.of(n, n));
        ByteBuffer buffer = ByteBuffer.allocate(4 * n * n).order(ByteOrder.LITTLE_ENDIAN);
        while (buffer.hasRemaining()) {
            buffer.putFloat(1);
        }
        world.backend().copyIn(buffer.flip(), array);
        return array;
    }

    private static void multiply(NdArray a, NdArray b, NdArray c, int n) {
        long whole = (long) n * n;
        a.backend().gemm().gemm(false, false, n, n, n, 1, a, whole, b, whole, 0, c, whole, 1);
    }

    private static float first(NdArray array) {
        return read(array.window(0, Shape.of(1)));
    }

    @Test
    @SuppressWarnings("try") // a scope is opened for what it owns
    void shouldKeepMemoryFromOthersWhileACallUsesIt() {
        List<Float> sums = ThreadRanks.call("cuda", 2, Simulator.options(), world -> {
            NdArray sum = array(world, 0);
            sum(world);
            if (world.rank() == 1) {
                Thread.sleep(300);
            }
            Work work;
            try (Scope scope = Scope.open()) {
                NdArray in = array(world, world.rank() + 1);
                work = world.group().allReduce(in, sum, ReduceOp.SUM); // not awaited before its memory is given back
            }
            try (Scope scope = Scope.open()) {
                array(world, 99);
                array(world, 99);
            }
            work.await();
            return read(sum);
        });
        assertThat(sums).containsExactly(3f, 3f);
    }

    /** Each rank's result goes to memory that is given back at once; whoever gets it next writes after the collective. */
    @Test
    @SuppressWarnings("try") // a scope is opened for what it owns
    void shouldKeepMemoryFromOthersWhileACallWritesIt() {
        List<Float> found = ThreadRanks.call("cuda", 2, Simulator.options(), world -> {
            NdArray in = array(world, world.rank() + 1);
            sum(world);
            if (world.rank() == 1) {
                Thread.sleep(300);
            }
            try (Scope scope = Scope.open()) {
                world.group().allReduce(in, array(world, 0), ReduceOp.SUM); // not awaited
            }
            NdArray next = array(world, 99);
            ((CudaBackend) world.backend()).communicationStream().synchronize();
            return read(next);
        });
        assertThat(found).containsExactly(99f, 99f);
    }

    @Test
    void shouldReturnBeforeThePeerHasCome() throws Exception {
        CountDownLatch returned = new CountDownLatch(1);
        List<Float> sums = ThreadRanks.call("cuda", 2, Simulator.options(), world -> {
            sum(world);
            if (world.rank() == 1) {
                assertThat(returned.await(10, TimeUnit.SECONDS))
                        .as("rank 0 has returned from its call")
                        .isTrue();
            }
            NdArray array = array(world, world.rank() + 1);
            Work work = world.group().allReduce(array, array, ReduceOp.SUM);
            work.await();
            returned.countDown();
            return read(array);
        });
        assertThat(sums).containsExactly(3f, 3f);
    }

    @Test
    void shouldCopyInWhileTheDeviceWaits() throws Exception {
        CountDownLatch copied = new CountDownLatch(1);
        List<Float> values = ThreadRanks.call("cuda", 2, Simulator.options(), world -> {
            NdArray next = array(world, 0);
            sum(world);
            if (world.rank() == 1) {
                assertThat(copied.await(10, TimeUnit.SECONDS))
                        .as("rank 0 has returned from its copies")
                        .isTrue();
            }
            NdArray array = array(world, world.rank() + 1);
            world.group().allReduce(array, array, ReduceOp.SUM).await(); // rank 0's compute stream waits here
            write(array, 5);
            write(next, 6);
            write(next, 7);
            copied.countDown();
            return read(array) + 10 * read(next);
        });
        assertThat(values).containsExactly(75f, 75f);
    }

    @Test
    void shouldReportACapturedStepThatDoesNotComplete() {
        warmUp();
        assertThatThrownBy(() -> ThreadRanks.call("cuda", 2, Simulator.options().withTimeoutMs(2000), world -> {
                    CudaBackend backend = (CudaBackend) world.backend();
                    NdArray value = array(world, 0);
                    try (CapturedStep step = backend.capture(() ->
                            world.group().allReduce(value, value, ReduceOp.SUM).await())) {
                        for (int run = 0; run < 5; run++) {
                            write(value, run + world.rank());
                            step.run();
                            assertThat(read(value)).isEqualTo(2 * run + 1);
                        }
                        if (world.rank() == 0) {
                            step.run();
                            read(value);
                        } else {
                            stayAway(world);
                        }
                    }
                    return true;
                }))
                .isInstanceOf(CommunicationException.class)
                .hasMessageContaining("in a captured step; rank 1 is elsewhere");
    }

    @Test
    void shouldCarryMessagesInACapturedStep() {
        ThreadRanks.call("cuda", 2, Simulator.options(), world -> {
            NdArray value = array(world, 0);
            try (CapturedStep step = world.backend().capture(() -> {
                Work work = world.rank() == 0
                        ? world.group().send(value, 1)
                        : world.group().receive(value, 0);
                work.await();
            })) {
                for (int run = 1; run < 6; run++) {
                    write(value, world.rank() == 0 ? run : -1);
                    step.run();
                    assertThat(read(value)).isEqualTo(run);
                }
            }
            return true;
        });
    }

    @Test
    @SuppressWarnings("try") // a scope is opened for what it owns
    void shouldReturnMemoryToTheDriverWhileAPeerHasNotCome() throws Exception {
        CountDownLatch waiting = new CountDownLatch(1);
        List<Float> sums = ThreadRanks.call("cuda", 2, Simulator.options(), world -> {
            sum(world);
            try (Scope scope = Scope.open()) {
                ones(world, 256);
            }
            NdArray array = array(world, world.rank() + 1);
            if (world.rank() == 1) {
                waiting.await();
                Thread.sleep(200); // rank 0 is in trimMemory
            }
            world.group().allReduce(array, array, ReduceOp.SUM).await();
            waiting.countDown();
            ((CudaBackend) world.backend()).trimMemory();
            return read(array);
        });
        assertThat(sums).containsExactly(3f, 3f);
    }

    @Test
    void shouldCloseASessionWhileACapturedStepIsOpen() {
        CapturedStep[] open = new CapturedStep[2];
        ThreadRanks.call("cuda", 2, Simulator.options(), world -> {
            NdArray value = array(world, 1);
            CapturedStep step = world.backend()
                    .capture(() ->
                            world.group().allReduce(value, value, ReduceOp.SUM).await());
            open[world.rank()] = step;
            for (int run = 0; run < 4; run++) {
                step.run();
            }
            return read(value);
        });
        for (CapturedStep step : open) {
            assertThatThrownBy(step::run)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("a captured step with collectives is run after one of its groups was closed")
                    .hasMessageContaining("HINT: close the step before the group");
            step.close();
        }
    }

    @Test
    void shouldNameWhoDoesNotMakeTheFirstCallOfAGroup() {
        warmUp();
        assertThatThrownBy(() -> ThreadRanks.call("cuda", 2, Simulator.options().withTimeoutMs(2000), world -> {
                    if (world.rank() == 1) {
                        stayAway(world);
                    }
                    NdArray array = array(world, 1);
                    world.group().allReduce(array, array, ReduceOp.SUM); // connects, so the host waits
                    return true;
                }))
                .isInstanceOf(CommunicationException.class)
                .hasMessageContaining("in call 1 on group 'world': allReduce(sum, float32 [1]); rank 1 is elsewhere");
    }

    @Test
    @SuppressWarnings("try") // a scope is opened for what it owns
    void shouldKeepTheMemoryOfAMessageThatIsNotConnectedYet() {
        List<Float> received = ThreadRanks.call("cuda", 2, Simulator.options(), world -> {
            NdArray target = array(world, 0);
            if (world.rank() == 1) {
                Thread.sleep(300); // rank 0's first message waits for its link
                world.group().receive(target, 0).await();
                return read(target);
            }
            Work work;
            try (Scope scope = Scope.open()) {
                work = world.group().send(array(world, 7), 1);
            }
            try (Scope scope = Scope.open()) {
                for (int i = 0; i < 4; i++) {
                    array(world, 99);
                }
            }
            work.await();
            return read(target);
        });
        assertThat(received).containsExactly(0f, 7f);
    }
}
