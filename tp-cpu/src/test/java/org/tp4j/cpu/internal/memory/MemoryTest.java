package org.tp4j.cpu.internal.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.tp4j.cpu.CpuBackend;
import org.tp4j.cpu.internal.blas.NetlibBlas;
import org.tp4j.cpu.internal.kernels.TestArrays;
import org.tp4j.cpu.internal.scalar.ScalarFloatKernels;
import org.tp4j.tensor.Activation;
import org.tp4j.tensor.Backends;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.Device;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Scope;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.Storage;
import org.tp4j.tensor.TpException;

/** The backend's memory: pooling, ownership, limits, raw copies. */
class MemoryTest {
    private static CpuBackend backend(long limitBytes, boolean poison) {
        return new CpuBackend(new ArrayPool(limitBytes, poison), NetlibBlas.load(), new ScalarFloatKernels());
    }

    @Test
    void shouldServeTheDeviceCpu() {
        assertThat(Backends.of(Device.CPU)).isSameAs(CpuBackend.get());
        assertThatThrownBy(() -> Backends.of(new Device("cpu", 1)))
                .isInstanceOf(TpException.class)
                .hasMessageContaining("cpu:1");
    }

    @Test
    void shouldKeepSizeClassesTight() {
        for (int n = 0; n < 100_000; n++) {
            int sizeClass = ArrayPool.sizeClass(n);
            int capacity = ArrayPool.capacity(sizeClass);
            assertThat(capacity).isGreaterThanOrEqualTo(n).isLessThanOrEqualTo(Math.max(8, n + n / 8 + 1));
            assertThat(ArrayPool.sizeClass(capacity)).isEqualTo(sizeClass);
        }
        assertThat(ArrayPool.sizeClass(ArrayPool.MAX_ELEMENTS)).isLessThan(240);
    }

    @ParameterizedTest
    @EnumSource
    void shouldMakeNothingNewInAWarmStep(DType dtype) {
        CpuBackend backend = backend(1L << 30, false);
        int[] sizes = {0, 1, 7, 100, 5000, 100_000, 100_001, 1_000_000};
        long warm = 0;
        for (int step = 0; step < 5; step++) {
            try (Scope scope = Scope.open()) {
                for (int round = 0; round < 30; round++) {
                    backend.allocate(dtype, sizes[round % sizes.length]);
                }
            }
            if (step == 0) {
                warm = backend.arraysCreated();
            }
        }
        assertThat(backend.arraysCreated()).isEqualTo(warm).isLessThanOrEqualTo(30);
    }

    @Test
    void shouldMakeNothingNewInWarmKernels() {
        CpuBackend backend = backend(1L << 30, false);
        long warm = 0;
        for (int step = 0; step < 5; step++) {
            try (Scope scope = Scope.open()) {
                NdArray x = NdArray.full(backend, DType.BFLOAT16, Shape.of(300, 400), 1);
                NdArray bias = NdArray.full(backend, DType.BFLOAT16, Shape.of(400), 1);
                NdArray w = NdArray.full(backend, DType.BFLOAT16, Shape.of(400, 50), 1);
                NdArray y = NdArray.allocate(backend, DType.BFLOAT16, Shape.of(300, 50));
                backend.elementwise().biasActivation(Activation.GELU, x, bias, x);
                backend.gemm().gemm(false, false, 300, 50, 400, 1, x, 0, w, 0, 0, y, 0, 1);
                backend.reduction().softmax(y, false, y);
            }
            if (step == 0) {
                warm = backend.arraysCreated();
            }
        }
        assertThat(backend.arraysCreated()).isEqualTo(warm);
    }

    @Test
    void shouldShareFreedMemoryBetweenThreads() throws InterruptedException {
        ArrayPool pool = new ArrayPool(1L << 30, false);
        Object[] taken = {pool.take(DType.FLOAT32, 1 << 20)};
        Thread other = new Thread(() -> pool.give(DType.FLOAT32, taken[0]));
        other.start();
        other.join();
        assertThat(pool.pooledBytes()).isEqualTo(4L << 20);
        assertThat(pool.take(DType.FLOAT32, (1 << 20) - 5)).isSameAs(taken[0]);
        assertThat(pool.pooledBytes()).isZero();
        assertThat(pool.created()).isEqualTo(1);
    }

    @Test
    void shouldPreferTheArrayThatFitsExactly() {
        ArrayPool pool = new ArrayPool(1L << 30, false);
        Object exact = pool.take(DType.INT32, 1_000_000);
        Object longer = pool.take(DType.INT32, 1_000_100);
        pool.give(DType.INT32, exact);
        pool.give(DType.INT32, longer);
        assertThat(pool.take(DType.INT32, 1_000_000)).isSameAs(exact);
        assertThat(pool.take(DType.INT32, 1_000_000)).isSameAs(longer);
    }

    @Test
    void shouldNotPoolBeyondItsLimit() {
        ArrayPool pool = new ArrayPool(1 << 20, false);
        List<Object> arrays = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            arrays.add(pool.take(DType.INT64, 100_000));
        }
        arrays.forEach(array -> pool.give(DType.INT64, array));
        assertThat(pool.pooledBytes()).isEqualTo(800_000);
        pool.clear();
        assertThat(pool.pooledBytes()).isZero();
    }

    @Test
    void shouldNotHandOutAnArrayTwiceWhenManyThreadsAsk() throws InterruptedException {
        ArrayPool pool = new ArrayPool(1L << 30, false);
        List<Throwable> failures = new ArrayList<>();
        List<Thread> threads = new ArrayList<>();
        for (int t = 0; t < 4; t++) {
            int mark = t + 1;
            Thread thread = new Thread(() -> {
                for (int round = 0; round < 2000; round++) {
                    int n = 1 + (round * 37 + mark) % 9000;
                    int[] array = (int[]) pool.take(DType.INT32, n);
                    array[0] = mark;
                    array[n - 1] = mark;
                    Thread.onSpinWait();
                    if (array[0] != mark || array[n - 1] != mark) {
                        synchronized (failures) {
                            failures.add(new AssertionError("array shared by two threads"));
                        }
                    }
                    pool.give(DType.INT32, array);
                }
            });
            threads.add(thread);
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        assertThat(failures).isEmpty();
    }

    @Test
    void shouldPoisonWhatIsHandedOut() {
        CpuBackend backend = backend(1 << 20, true);
        HostStorage storage = (HostStorage) backend.allocate(DType.FLOAT32, 100);
        assertThat(storage.floats()).containsOnly(Float.NaN);
        float[] array = storage.floats();
        array[0] = 1;
        storage.release();
        assertThat(array[0]).isNaN();
    }

    @Test
    void shouldRefuseMemoryThatWasGivenBack() {
        CpuBackend backend = CpuBackend.get();
        Storage storage;
        try (Scope scope = Scope.open()) {
            storage = backend.allocate(DType.FLOAT32, 10);
        }
        assertThat(storage.isReleased()).isTrue();
        assertThatThrownBy(((HostStorage) storage)::floats)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("after its scope has freed it");
        assertThatThrownBy(storage::release)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("released twice");
    }

    @Test
    void shouldRefuseTensorsLongerThanAnArray() {
        assertThatThrownBy(() -> CpuBackend.get().allocate(DType.BOOL, 1L << 31))
                .isInstanceOf(TpException.class)
                .hasMessageContaining("2147483648 bool elements")
                .hasMessageContaining("2^31 - 1")
                .hasMessageContaining("HINT");
    }

    @Test
    void shouldSayWhoHoldsTheMemoryWhenThereIsNone() {
        CpuBackend backend = CpuBackend.get();
        try (Scope outer = Scope.open("epoch")) {
            backend.allocate(DType.FLOAT32, 1000);
            try (Scope inner = Scope.open("step")) {
                backend.allocate(DType.FLOAT32, 10);
                // 16 GiB in one piece, more than the tests' heap
                assertThatThrownBy(() -> backend.allocate(DType.FLOAT64, ArrayPool.MAX_ELEMENTS))
                        .isInstanceOf(TpException.class)
                        .hasMessageContaining("asked for " + 8L * ArrayPool.MAX_ELEMENTS + " bytes")
                        .hasMessageContaining("scope 'step' holds 40 bytes, scope 'epoch' holds 4000 bytes")
                        .hasMessageContaining("-Xmx");
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldCopyRawBytesInAndOut(DType dtype) {
        NdArray array = TestArrays.random(dtype, new java.util.Random(1), 3, Shape.of(5, 7));
        NdArray back = TestArrays.window(dtype, 1, Shape.of(5, 7));
        ByteBuffer bytes = ByteBuffer.allocateDirect(35 * dtype.bytes() + 2).order(ByteOrder.BIG_ENDIAN);
        bytes.position(1);
        CpuBackend.get().copyOut(array, bytes);
        assertThat(bytes.position()).isEqualTo(1 + 35 * dtype.bytes());
        bytes.flip().position(1);
        CpuBackend.get().copyIn(bytes, back);
        assertThat(bytes.remaining()).isZero();
        TestArrays.assertRelativelyClose(back, array, 0);
    }

    @Test
    void shouldWriteLittleEndianBytes() {
        NdArray array = TestArrays.of(DType.INT32, 0, Shape.of(1), 0x01020304);
        ByteBuffer bytes = ByteBuffer.allocate(4);
        CpuBackend.get().copyOut(array, bytes);
        assertThat(bytes.array()).containsExactly(4, 3, 2, 1);
    }

    @Test
    void shouldSetBlasThreads() {
        CpuBackend backend = CpuBackend.get();
        int before = backend.blasThreads();
        backend.setBlasThreads(1);
        assertThat(backend.blasThreads()).isEqualTo(1);
        backend.setBlasThreads(before);
        assertThatThrownBy(() -> backend.setBlasThreads(0)).isInstanceOf(IllegalArgumentException.class);
    }
}
