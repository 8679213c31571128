package org.tp4j.cpu.internal.vector;

import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Which vector loops have been compiled. A loop with the Vector API that has not been compiled allocates an object for
 * every vector and is about a thousand times slower than one that has; and it takes hundreds of milliseconds of such
 * running until it is. So a loop is first run in the background, on scratch, once the scalar loop has done enough work to
 * show that it pays; when it has become fast it takes over. The results are the same bit for bit.
 */
final class Readiness {
    /** Elements that the scalar loop computes, in about a millisecond, before the vector loop is warmed up. */
    private static final long WORTHWHILE = 400_000;

    private static final int MAX_CALLS = 200_000;
    private static final int CALLS_BETWEEN_LOOKS = 500;

    private final boolean[] ready;
    private final AtomicLongArray elements;
    private final Supplier<Optional<Runnable[]>> loops;

    /** Created by the worker when first needed, since it loads the Vector API. */
    private Runnable @Nullable [] made;

    private boolean unfit;

    /** One thread, which ends when idle. */
    private final ThreadPoolExecutor worker =
            new ThreadPoolExecutor(1, 1, 1, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), task -> {
                Thread thread = new Thread(task, "tp4j-vector-warm-up");
                thread.setDaemon(true);
                return thread;
            });

    private Readiness(int count, Supplier<Optional<Runnable[]>> loops, boolean readyAtOnce) {
        this.loops = loops;
        this.ready = new boolean[count];
        this.elements = new AtomicLongArray(count);
        Arrays.fill(ready, readyAtOnce);
        worker.allowCoreThreadTimeOut(true);
    }

    /** Every loop is run from the first call on. */
    static Readiness atOnce(int count) {
        return new Readiness(count, Optional::empty, true);
    }

    /**
     * Every loop is warmed up in the background.
     *
     * @param loops returns what runs each loop over a few vectors of scratch, or nothing if vectors are not to be used
     */
    static Readiness inTheBackground(int count, Supplier<Optional<Runnable[]>> loops) {
        return new Readiness(count, loops, false);
    }

    /** Whether n elements should go through vector loop {@code id}; if not, they count towards warming it up. */
    boolean isReady(int id, int n) {
        return ready[id] || count(id, n);
    }

    private boolean count(int id, int n) {
        long before = elements.getAndAdd(id, n);
        if (before < WORTHWHILE && before + n >= WORTHWHILE) {
            worker.execute(() -> warmUp(id));
        }
        return false;
    }

    /** Runs the loop until a call takes no longer than compiled code would; gives up if that never happens. */
    private void warmUp(int id) {
        final long compiledNanos = 6_000; // for 256 elements; it is 300 when compiled, and over 40 000 before
        if (made == null && !unfit) {
            made = loops.get().orElse(null);
            unfit = made == null;
        }
        if (made == null) {
            return;
        }
        Runnable loop = made[id];
        long best = Long.MAX_VALUE;
        for (int calls = 0; calls < MAX_CALLS; calls += CALLS_BETWEEN_LOOKS) {
            long start = System.nanoTime();
            for (int i = 0; i < CALLS_BETWEEN_LOOKS; i++) {
                loop.run();
            }
            best = Math.min(best, (System.nanoTime() - start) / CALLS_BETWEEN_LOOKS);
            if (best < compiledNanos) {
                ready[id] = true;
                return;
            }
        }
    }
}
