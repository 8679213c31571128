package org.tp4j.tests.nccl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tp4j.cuda.CudaBackend;
import org.tp4j.cuda.stream.CudaEvent;
import org.tp4j.nccl.JNccl;
import org.tp4j.nccl.NcclComm;
import org.tp4j.nccl.NcclConfig;
import org.tp4j.nccl.NcclDataType;
import org.tp4j.nccl.NcclException;
import org.tp4j.nccl.NcclRedOp;
import org.tp4j.nccl.NcclResult;
import org.tp4j.nccl.NcclUniqueId;
import org.tp4j.tensor.CapturedStep;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.internal.math.HalfFloats;

/** The bindings by themselves, on the simulated NCCL; ranks are threads with a device each. */
@Timeout(60)
class JNcclTest {
    private static final int RANKS = 2;

    @BeforeAll
    static void needsSimulator() {
        Simulator.assumeBuilt();
    }

    /** What one rank does. */
    private interface Rank<R> {
        R run(int rank, CudaBackend backend, NcclUniqueId id) throws Exception;
    }

    private static <R> List<R> onRanks(Rank<R> body) throws Exception {
        NcclUniqueId id = JNccl.ncclGetUniqueId();
        ExecutorService threads = Executors.newFixedThreadPool(RANKS);
        try {
            List<Callable<R>> calls = new ArrayList<>();
            for (int r = 0; r < RANKS; r++) {
                int rank = r;
                calls.add(() -> {
                    CudaBackend backend = CudaBackend.of(rank);
                    backend.makeCurrent();
                    return body.run(rank, backend, id);
                });
            }
            List<R> results = new ArrayList<>();
            for (Future<R> future : threads.invokeAll(calls, 40, TimeUnit.SECONDS)) {
                results.add(future.get());
            }
            return results;
        } finally {
            threads.shutdownNow();
        }
    }

    private static NdArray bytes(CudaBackend backend, byte[] content) {
        NdArray array = NdArray.allocate(backend, DType.BOOL, Shape.of(content.length));
        backend.copyIn(ByteBuffer.wrap(content).order(ByteOrder.LITTLE_ENDIAN), array);
        return array;
    }

    private static byte[] bytes(NdArray array) {
        byte[] content = new byte[(int) array.elements()];
        array.backend().copyOut(array, ByteBuffer.wrap(content).order(ByteOrder.LITTLE_ENDIAN));
        return content;
    }

    /** Values as a type stores them. */
    private static byte[] encode(int dataType, long... values) {
        ByteBuffer buffer = ByteBuffer.allocate(values.length * NcclDataType.bytes(dataType))
                .order(ByteOrder.LITTLE_ENDIAN);
        for (long value : values) {
            switch (dataType) {
                case NcclDataType.ncclInt8, NcclDataType.ncclUint8 -> buffer.put((byte) value);
                case NcclDataType.ncclInt32, NcclDataType.ncclUint32 -> buffer.putInt((int) value);
                case NcclDataType.ncclInt64, NcclDataType.ncclUint64 -> buffer.putLong(value);
                case NcclDataType.ncclFloat16 -> buffer.putShort(HalfFloats.floatToFloat16(value));
                case NcclDataType.ncclFloat32 -> buffer.putFloat(value);
                case NcclDataType.ncclFloat64 -> buffer.putDouble(value);
                case NcclDataType.ncclBfloat16 -> buffer.putShort(HalfFloats.floatToBfloat16(value));
                default -> throw new IllegalArgumentException("type " + dataType);
            }
        }
        return buffer.array();
    }

    private static long[] joined(int op) {
        return switch (op) {
            case NcclRedOp.ncclSum -> new long[] {8, 10, 6};
            case NcclRedOp.ncclProd -> new long[] {12, 24, 8};
            case NcclRedOp.ncclMax -> new long[] {6, 6, 4};
            case NcclRedOp.ncclMin -> new long[] {2, 4, 2};
            default -> new long[] {4, 5, 3};
        };
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9})
    void shouldJoinEveryTypeInEveryWay(int dataType) throws Exception {
        onRanks((rank, backend, id) -> {
            try (NcclComm comm = JNccl.ncclCommInitRank(RANKS, id, rank)) {
                byte[] mine = rank == 0 ? encode(dataType, 2, 4, 4) : encode(dataType, 6, 6, 2);
                for (int op = NcclRedOp.ncclSum; op <= NcclRedOp.ncclAvg; op++) {
                    NdArray in = bytes(backend, mine);
                    NdArray out = bytes(backend, new byte[mine.length]);
                    JNccl.ncclAllReduce(
                            backend.address(in), backend.address(out), 3, dataType, op, comm, stream(backend));
                    assertThat(bytes(out)).as("op %d", op).isEqualTo(encode(dataType, joined(op)));
                }
                return true;
            }
        });
    }

    @Test
    void shouldTellUnsignedFromSigned() throws Exception {
        onRanks((rank, backend, id) -> {
            try (NcclComm comm = JNccl.ncclCommInitRank(RANKS, id, rank)) {
                NdArray array = bytes(backend, new byte[] {(byte) (rank == 0 ? 200 : 100)});
                long at = backend.address(array);
                JNccl.ncclAllReduce(at, at, 1, NcclDataType.ncclUint8, NcclRedOp.ncclMax, comm, stream(backend));
                assertThat(bytes(array)[0] & 0xff).isEqualTo(200);
                JNccl.ncclAllReduce(at, at, 1, NcclDataType.ncclInt8, NcclRedOp.ncclMin, comm, stream(backend));
                return assertThat(bytes(array)[0]).isEqualTo((byte) 200);
            }
        });
    }

    private static long stream(CudaBackend backend) {
        return backend.computeStream().handle();
    }

    @Test
    void shouldExchangeRuns() throws Exception {
        onRanks((rank, backend, id) -> {
            try (NcclComm comm = JNccl.ncclCommInitRank(RANKS, id, rank)) {
                NdArray in = bytes(backend, new byte[] {(byte) (10 * rank), (byte) (10 * rank + 1)});
                NdArray out = bytes(backend, new byte[2]);
                JNccl.ncclAlltoAll(
                        backend.address(in), backend.address(out), 1, NcclDataType.ncclInt8, comm, stream(backend));
                return assertThat(bytes(out)).containsExactly(rank, 10 + rank);
            }
        });
    }

    @Test
    void shouldTellWhatACommunicatorIs() throws Exception {
        onRanks((rank, backend, id) -> {
            NcclComm comm = JNccl.ncclCommInitRank(RANKS, id, rank);
            assertThat(JNccl.ncclCommCount(comm)).isEqualTo(RANKS);
            assertThat(JNccl.ncclCommUserRank(comm)).isEqualTo(rank);
            assertThat(JNccl.ncclCommCuDevice(comm)).isEqualTo(rank);
            assertThat(JNccl.ncclCommGetAsyncError(comm)).isEqualTo(NcclResult.ncclSuccess);
            assertThat(comm.handle()).isNotZero();
            assertThat(JNccl.ncclCommFinalize(comm)).isEqualTo(NcclResult.ncclSuccess);
            JNccl.ncclCommDestroy(comm);
            JNccl.ncclCommDestroy(comm); // again: does nothing
            JNccl.ncclCommAbort(comm);
            comm.close();
            assertThat(comm.isEnded()).isTrue();
            assertThatThrownBy(() -> JNccl.ncclCommCount(comm))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessage("ncclCommCount on a communicator that has been destroyed or aborted");
            return assertThatThrownBy(comm::handle).isInstanceOf(IllegalStateException.class);
        });
    }

    @Test
    void shouldGoOnInTheBackgroundWhenNonBlocking() throws Exception {
        CyclicBarrier apart = new CyclicBarrier(RANKS);
        onRanks((rank, backend, id) -> {
            if (rank == 1) {
                apart.await(); // rank 0 has begun, and cannot be through
            }
            NcclConfig config =
                    NcclConfig.initializer().withBlocking(0).withCTAs(1, 4).withNetName("Socket");
            NcclComm comm = JNccl.ncclCommInitRankConfig(RANKS, id, rank, config);
            NdArray array = bytes(backend, new byte[] {1});
            long at = backend.address(array);
            if (rank == 0) {
                assertThat(JNccl.ncclCommGetAsyncError(comm)).isEqualTo(NcclResult.ncclInProgress);
                assertThatThrownBy(() -> JNccl.ncclAllReduce(
                                at, at, 1, NcclDataType.ncclInt8, NcclRedOp.ncclSum, comm, stream(backend)))
                        .isInstanceOf(NcclException.class)
                        .hasMessageContaining("still in progress");
                apart.await();
            }
            settle(comm);
            int result =
                    JNccl.ncclAllReduce(at, at, 1, NcclDataType.ncclInt8, NcclRedOp.ncclSum, comm, stream(backend));
            assertThat(result).isEqualTo(NcclResult.ncclInProgress);
            settle(comm);
            assertThat(bytes(array)).containsExactly(2);
            NcclComm half = JNccl.ncclCommSplit(comm, rank, 0, null);
            settle(comm);
            settle(half);
            assertThat(JNccl.ncclCommCount(half)).isEqualTo(1);
            half.close();
            comm.close();
            return true;
        });
    }

    private static void settle(NcclComm comm) throws InterruptedException {
        while (JNccl.ncclCommGetAsyncError(comm) == NcclResult.ncclInProgress) {
            Thread.sleep(1);
        }
        assertThat(JNccl.ncclCommGetAsyncError(comm)).isEqualTo(NcclResult.ncclSuccess);
    }

    @Test
    void shouldLeaveOutRanksWithoutAColor() throws Exception {
        onRanks((rank, backend, id) -> {
            try (NcclComm comm = JNccl.ncclCommInitRank(RANKS, id, rank)) {
                NcclComm part = JNccl.ncclCommSplit(comm, rank == 0 ? 5 : JNccl.NCCL_SPLIT_NOCOLOR, 0, null);
                if (rank == 0) {
                    assertThat(JNccl.ncclCommCount(part)).isEqualTo(1);
                } else {
                    assertThat(part.handle()).isZero();
                    assertThatThrownBy(() -> JNccl.ncclCommCount(part))
                            .isInstanceOf(IllegalStateException.class)
                            .hasMessageContaining("a split left this rank out");
                }
                part.close();
                return true;
            }
        });
    }

    @Test
    void shouldInitSeveralRanksFromOneThreadInAGroup() {
        NcclUniqueId id = JNccl.ncclGetUniqueId();
        List<NcclComm> comms = new ArrayList<>();
        JNccl.ncclGroupStart();
        for (int rank = 0; rank < RANKS; rank++) {
            CudaBackend.of(rank).makeCurrent();
            comms.add(JNccl.ncclCommInitRank(RANKS, id, rank));
        }
        assertThatThrownBy(() -> JNccl.ncclCommCount(comms.get(0)))
                .hasMessageContaining("HINT: call ncclGroupEnd first");
        JNccl.ncclGroupEnd();
        List<NdArray> arrays = new ArrayList<>();
        JNccl.ncclGroupStart();
        for (int rank = 0; rank < RANKS; rank++) {
            CudaBackend backend = CudaBackend.of(rank);
            NdArray array = bytes(backend, new byte[] {(byte) (rank + 1)});
            arrays.add(array);
            long at = backend.address(array);
            JNccl.ncclAllReduce(at, at, 1, NcclDataType.ncclInt8, NcclRedOp.ncclSum, comms.get(rank), stream(backend));
        }
        JNccl.ncclGroupEnd();
        assertThat(arrays).allSatisfy(array -> assertThat(bytes(array)).containsExactly(3));
        comms.forEach(NcclComm::close);
    }

    @Test
    void shouldRefuseTwoRanksOnOneDevice() throws Exception {
        onRanks((rank, backend, id) -> {
            CudaBackend.of(0).makeCurrent();
            NcclException e = catchThrowableOfType(NcclException.class, () -> JNccl.ncclCommInitRank(RANKS, id, rank));
            assertThat(e.result()).isEqualTo(NcclResult.ncclInvalidUsage);
            return assertThat(e).hasMessageContaining("Duplicate GPU detected");
        });
    }

    @Test
    void shouldPassOnWhatNcclRefuses() throws Exception {
        onRanks((rank, backend, id) -> {
            try (NcclComm comm = JNccl.ncclCommInitRank(RANKS, id, rank)) {
                NdArray array = bytes(backend, new byte[] {1, 2});
                long at = backend.address(array);
                int type = NcclDataType.ncclInt8;
                NcclException e = catchThrowableOfType(
                        NcclException.class, () -> JNccl.ncclBroadcast(at, at, 1, type, 2, comm, stream(backend)));
                assertThat(e.result()).isEqualTo(NcclResult.ncclInvalidArgument);
                assertThat(e.call()).isEqualTo("ncclBroadcast");
                assertThat(e.lastError()).contains("root or peer 2 of 2 ranks");
                assertThatThrownBy(() -> JNccl.ncclAllReduce(at, at, 1, type, 9, comm, stream(backend)))
                        .hasMessageContaining("reduction 9");
                assertThatThrownBy(() -> JNccl.ncclAllReduce(at, at, 3_000_000, type, 0, comm, stream(backend)))
                        .hasMessageContaining("are not inside of one device allocation");
                NdArray elsewhere = bytes(CudaBackend.of(1 - rank), new byte[] {1});
                long far = CudaBackend.of(1 - rank).address(elsewhere);
                backend.makeCurrent();
                return assertThatThrownBy(() -> JNccl.ncclAllReduce(far, far, 1, type, 0, comm, stream(backend)))
                        .hasMessageContaining("is of device " + (1 - rank));
            }
        });
    }

    private static void reduce(NcclComm comm, CudaBackend backend, NdArray array) {
        long at = backend.address(array);
        JNccl.ncclAllReduce(at, at, array.elements(), NcclDataType.ncclInt8, NcclRedOp.ncclSum, comm, stream(backend));
    }

    @Test
    void shouldLetAStuckStreamGoOnWhenAborted() throws Exception {
        onRanks((rank, backend, id) -> {
            NcclComm comm = JNccl.ncclCommInitRank(RANKS, id, rank);
            NdArray array = bytes(backend, new byte[1000]);
            reduce(comm, backend, array);
            if (rank == 0) {
                reduce(comm, backend, array); // nobody comes
                Thread.sleep(50);
                assertThat(backend.computeStream().isIdle()).isFalse();
                Thread watchdog = new Thread(() -> JNccl.ncclCommAbort(comm));
                watchdog.start();
                backend.computeStream().synchronize();
                watchdog.join();
                assertThat(comm.isEnded()).isTrue();
            } else {
                comm.close();
            }
            return true;
        });
    }

    @Test
    void shouldLetAThreadGoOnThatWaitsToConnectWhenAborted() throws Exception {
        onRanks((rank, backend, id) -> {
            NcclComm comm = JNccl.ncclCommInitRank(RANKS, id, rank);
            if (rank == 0) {
                NdArray array = bytes(backend, new byte[1000]);
                Thread watchdog = new Thread(() -> {
                    LockSupport.parkNanos(50_000_000);
                    JNccl.ncclCommAbort(comm);
                });
                watchdog.start();
                assertThatThrownBy(() -> reduce(comm, backend, array)) // nobody comes
                        .isInstanceOf(NcclException.class);
                watchdog.join();
            } else {
                comm.close();
            }
            return true;
        });
    }

    @Test
    void shouldRefuseToDestroyACommunicatorWhoseCallsAGraphHolds() throws Exception {
        onRanks((rank, backend, id) -> {
            NcclComm comm = JNccl.ncclCommInitRank(RANKS, id, rank);
            NdArray array = bytes(backend, new byte[] {1});
            long stream = backend.communicationStream().handle();
            long at = backend.address(array);
            CapturedStep step = backend.capture(() -> {
                try (CudaEvent before = backend.computeStream().record()) {
                    backend.communicationStream().waitFor(before);
                }
                JNccl.ncclAllReduce(at, at, 1, NcclDataType.ncclInt8, NcclRedOp.ncclSum, comm, stream);
                try (CudaEvent after = backend.communicationStream().record()) {
                    backend.computeStream().waitFor(after);
                }
            });
            for (int run = 0; run < 3; run++) {
                step.run();
            }
            assertThat(bytes(array)).containsExactly(8);
            assertThatThrownBy(() -> JNccl.ncclCommDestroy(comm))
                    .hasMessageContaining("graphs hold 1 calls on the communicator");
            step.close();
            return true;
        });
    }

    @Test
    void shouldTakeIdsOfOtherProcessesAsTheyAre() {
        byte[] bytes = JNccl.ncclGetUniqueId().bytes();
        assertThat(NcclUniqueId.of(bytes).bytes()).isEqualTo(bytes);
        assertThatThrownBy(() -> NcclUniqueId.of(Arrays.copyOf(bytes, 100)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("a unique id of 100 bytes; it has 128");
        CudaBackend.of(0).makeCurrent();
        assertThatThrownBy(() -> JNccl.ncclCommInitRank(1, NcclUniqueId.of(new byte[128]), 0))
                .isInstanceOf(NcclException.class);
    }
}
