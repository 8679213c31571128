package org.tp4j.tensor.internal;

import java.util.Objects;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.tp4j.tensor.NativeLibraryException;
import org.tp4j.tensor.TpException;

/**
 * The outcome of finding and opening native libraries, which a process does once: what was opened, or why it failed.
 * A failure is remembered, and each request throws an exception of its own.
 *
 * @param <T> what is kept of the libraries
 */
public final class LibraryOutcome<T> {
    private final @Nullable T value;
    private final @Nullable TpException failure;

    private LibraryOutcome(@Nullable T value, @Nullable TpException failure) {
        this.value = value;
        this.failure = failure;
    }

    /**
     * Opens the libraries now.
     *
     * @param name their name, for messages
     * @param opening finds and opens them
     */
    public static <T> LibraryOutcome<T> of(String name, Supplier<T> opening) {
        try {
            return new LibraryOutcome<>(opening.get(), null);
        } catch (TpException e) {
            return new LibraryOutcome<>(null, e);
        } catch (ExceptionInInitializerError e) { // such as a jar built without its natives
            Throwable cause = e.getCause();
            return new LibraryOutcome<>(null, cause instanceof TpException known ? known : unusable(name, e));
        } catch (RuntimeException | LinkageError e) {
            return new LibraryOutcome<>(null, unusable(name, e));
        }
    }

    private static TpException unusable(String name, Throwable reason) {
        return new TpException(name + " cannot be used: " + reason, reason);
    }

    /** Why they cannot be used, for the user; empty if they can. */
    public Optional<String> unavailable() {
        return failure == null ? Optional.empty() : Optional.of(String.valueOf(failure.getMessage()));
    }

    /**
     * What was opened.
     *
     * @throws TpException if they cannot be used: the same words each time, a {@link NativeLibraryException} where
     * something
     *     is missing
     */
    public T require() {
        if (failure instanceof NativeLibraryException missing) {
            throw new NativeLibraryException(missing.library(), missing.tried(), missing.hint());
        }
        if (failure != null) {
            throw new TpException(String.valueOf(failure.getMessage()), failure);
        }
        return Objects.requireNonNull(value);
    }
}
