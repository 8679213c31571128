package org.tp4j.mpi;

import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.tp4j.comm.CommunicationException;
import org.tp4j.comm.CommunicationOptions;

/**
 * Functions of MPI that block until all ranks have called them: MPI itself would wait for ever for a rank that does not come.
 * They run on a thread of their own, which is left behind if it is not done in time.
 */
final class BlockingCall {
    private static final long POLL_MS = 50;

    private BlockingCall() {}

    /**
     * Makes a call.
     *
     * @param what the call, for messages
     * @param obstacle why it cannot complete, if that is known
     * @throws CommunicationException if it is not complete in time, or cannot complete
     */
    static <R> R run(String what, long timeoutMs, Supplier<Optional<String>> obstacle, Supplier<R> call) {
        CompletableFuture<R> result = new CompletableFuture<>();
        Thread thread = new Thread(
                () -> {
                    try {
                        result.complete(call.get());
                    } catch (Throwable e) {
                        result.completeExceptionally(e);
                    }
                },
                "tp4j-mpi-call");
        thread.setDaemon(true);
        thread.start();
        long start = System.nanoTime();
        while (true) {
            try {
                return result.get(POLL_MS, TimeUnit.MILLISECONDS);
            } catch (ExecutionException e) {
                throw rethrown(e);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new CommunicationException("interrupted in " + what, e);
            } catch (TimeoutException e) {
                obstacle.get().ifPresent(why -> {
                    throw new CommunicationException(why);
                });
            }
            double seconds = (System.nanoTime() - start) * 1e-9;
            if (seconds * 1e3 > timeoutMs) {
                throw new CommunicationException(String.format(
                        Locale.ROOT,
                        "%s has not returned for %.1f s: a rank of the job has not started, or is stopped; HINT: read the"
                                + " ranks' output, and look for stopped processes; -D%s=N allows more time",
                        what,
                        seconds,
                        CommunicationOptions.TIMEOUT));
            }
        }
    }

    private static RuntimeException rethrown(ExecutionException e) {
        Throwable cause = e.getCause();
        if (cause instanceof RuntimeException runtime) {
            return runtime;
        }
        if (cause instanceof Error error) {
            throw error;
        }
        return new CommunicationException(String.valueOf(cause), cause);
    }
}
