package org.tp4j.threads;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.tp4j.comm.CommunicationOptions;
import org.tp4j.comm.launch.RankMain;
import org.tp4j.comm.launch.RankTask;
import org.tp4j.cpu.CpuBackend;
import org.tp4j.tensor.Device;
import org.tp4j.tensor.TpException;

/**
 * Runs ranks as threads of this JVM.
 *
 * <pre>{@code
 * ThreadRanks.run(4, world -> {
 *     NdArray ones = NdArray.full(world.backend(), DType.FLOAT32, Shape.of(3), 1);
 *     world.group().allReduce(ones, ones, ReduceOp.SUM).await(); // 4 on every rank
 * });
 * }</pre>
 *
 * <p>A rank that throws ends the others: whatever they wait for that needs it throws a {@link
 * org.tp4j.comm.CommunicationException} that names the rank and carries its exception. The caller gets the exception of the
 * rank that failed first, with the other ranks' unrelated exceptions suppressed in it.
 *
 * <p>While they run, a matrix product uses cores / ranks threads, at least one. Each rank is a daemon thread named
 * {@code rank-N}.
 */
public final class ThreadRanks {
    private static final long GRACE_MS = 10_000; // for ranks that keep computing after a peer has failed

    private ThreadRanks() {}

    /** Runs {@code main} on {@code ranks} threads and waits for all of them. */
    public static void run(int ranks, RankMain main) {
        run(ranks, CommunicationOptions.fromSystem(), main);
    }

    /** As {@link #run(int, RankMain)}, with settings. */
    public static void run(int ranks, CommunicationOptions options, RankMain main) {
        call(ranks, options, world -> {
            main.run(world);
            return true;
        });
    }

    /** Runs {@code task} on {@code ranks} threads; returns their results in rank order. */
    public static <R> List<R> call(int ranks, RankTask<R> task) {
        return call(ranks, CommunicationOptions.fromSystem(), task);
    }

    /** As {@link #call(int, RankTask)}, with settings. */
    public static <R> List<R> call(int ranks, CommunicationOptions options, RankTask<R> task) {
        return call(Device.CPU.type(), ranks, options, task);
    }

    /**
     * As {@link #call(int, RankTask)}, on devices of a type: rank r on device r. If there are fewer devices than ranks, they
     * are shared in turn, and collectives go through host memory.
     *
     * @throws TpException if the devices cannot be used
     */
    public static <R> List<R> call(String deviceType, int ranks, CommunicationOptions options, RankTask<R> task) {
        if (ranks < 1) {
            throw new IllegalArgumentException(ranks + " ranks were requested; HINT: there must be at least one");
        }
        DeviceAssignment devices = new DeviceAssignment(deviceType, ranks, options);
        ThreadJob job = new ThreadJob(ranks, options);
        List<Integer> numbers = new ArrayList<>();
        for (int rank = 0; rank < ranks; rank++) {
            numbers.add(rank);
        }
        Exchange exchange = new Exchange(job, "world", numbers);
        List<R> results = new ArrayList<>(Collections.nCopies(ranks, null));
        List<Thread> threads = new ArrayList<>();
        for (int rank = 0; rank < ranks; rank++) {
            int mine = rank;
            Runnable body = () ->
                    new ThreadRank(job, devices, exchange, mine).run(world -> results.set(mine, task.call(world)));
            Thread thread = new Thread(body, "rank-" + rank);
            thread.setDaemon(true);
            threads.add(thread);
        }
        CpuBackend backend = CpuBackend.get();
        int blasThreads = backend.blasThreads();
        backend.setBlasThreads(Math.max(1, Runtime.getRuntime().availableProcessors() / ranks));
        try {
            threads.forEach(Thread::start);
            job.join(threads, GRACE_MS);
        } finally {
            backend.setBlasThreads(blasThreads);
        }
        job.writeFlightRecords();
        Throwable failure = job.failure();
        if (failure != null) {
            throw unchecked(failure);
        }
        return results;
    }

    private static RuntimeException unchecked(Throwable failure) {
        if (failure instanceof RuntimeException runtime) {
            return runtime;
        }
        if (failure instanceof Error error) {
            throw error;
        }
        return new TpException("a rank failed: " + failure, failure);
    }
}
