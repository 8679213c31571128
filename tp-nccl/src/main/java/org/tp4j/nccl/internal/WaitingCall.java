package org.tp4j.nccl.internal;

import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.LongFunction;
import java.util.function.Supplier;
import org.tp4j.comm.CommunicationException;
import org.tp4j.nccl.NcclException;

/**
 * A call in which NCCL blocks until the other ranks have made theirs, on a thread of its own: the caller can give up, NCCL
 * cannot.
 */
final class WaitingCall {
    private static final long POLL_MS = 5;

    private WaitingCall() {}

    /**
     * Makes the call and waits for its result.
     *
     * @param what what is called, for messages and the thread's name
     * @param late the exception for a call that has waited for so many nanoseconds, longer than {@code timeoutMs}
     * @param unwanted is given the result of a call that the caller no longer waits for
     * @throws CommunicationException if the call fails, takes too long, or the session or another rank fails meanwhile
     */
    static <T> T run(
            NcclContext context,
            String what,
            long timeoutMs,
            LongFunction<CommunicationException> late,
            Supplier<T> call,
            Consumer<T> unwanted) {
        CompletableFuture<T> result = new CompletableFuture<>();
        Thread thread = new Thread(() -> complete(context, result, call, unwanted), "tp4j-nccl " + what);
        thread.setDaemon(true);
        thread.start();
        try {
            return await(context, what, timeoutMs, late, result);
        } catch (CommunicationException e) {
            if (!result.cancel(false) && !result.isCompletedExceptionally()) {
                unwanted.accept(result.join());
            }
            throw e;
        }
    }

    private static <T> void complete(
            NcclContext context, CompletableFuture<T> result, Supplier<T> call, Consumer<T> unwanted) {
        try {
            context.backend().makeCurrent();
            T value = call.get();
            if (!result.complete(value)) {
                unwanted.accept(value);
            }
        } catch (RuntimeException | LinkageError e) {
            result.completeExceptionally(e);
        }
    }

    private static <T> T await(
            NcclContext context,
            String what,
            long timeoutMs,
            LongFunction<CommunicationException> late,
            CompletableFuture<T> result) {
        long start = System.nanoTime();
        while (true) {
            try {
                return result.get(POLL_MS, TimeUnit.MILLISECONDS);
            } catch (TimeoutException e) {
                context.checkUsable();
                context.checkPeers();
                long waited = System.nanoTime() - start;
                if (waited > TimeUnit.MILLISECONDS.toNanos(timeoutMs)) {
                    throw late.apply(waited);
                }
            } catch (ExecutionException e) {
                context.checkUsable(); // if the session has failed, that is what ended the call
                throw failed(context, what, Objects.requireNonNullElse(e.getCause(), e));
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new CommunicationException("rank " + context.member().rank() + " was interrupted in " + what, e);
            }
        }
    }

    private static CommunicationException failed(NcclContext context, String what, Throwable cause) {
        if (cause instanceof Error error) {
            throw error;
        }
        if (!(cause instanceof NcclException) && !(cause instanceof IllegalStateException)) {
            throw (RuntimeException) cause;
        }
        return new CommunicationException(
                "rank " + context.member().rank() + " in " + what + ": " + cause.getMessage(), cause);
    }
}
