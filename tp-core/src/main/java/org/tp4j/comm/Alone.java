package org.tp4j.comm;

import java.util.function.Supplier;
import org.tp4j.tensor.ExecutionContext;

/**
 * What one rank does by itself, such as metrics on rank 0: it is not compared with what the others do, and collectives throw.
 *
 * <pre>{@code
 * if (world.rank() == 0) {
 *     Alone.run(() -> System.out.println("largest element " + x.detach().max(false)));
 * }
 * }</pre>
 */
public final class Alone {
    private Alone() {}

    /** Runs {@code work} on this rank alone. */
    public static void run(Runnable work) {
        call(() -> {
            work.run();
            return true;
        });
    }

    /** Runs {@code work} on this rank alone; returns its result. */
    public static <T> T call(Supplier<T> work) {
        ExecutionContext context = ExecutionContext.current();
        boolean was = context.setAlone(true);
        try {
            return work.get();
        } finally {
            context.setAlone(was);
        }
    }
}
