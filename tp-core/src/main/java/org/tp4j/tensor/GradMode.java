package org.tp4j.tensor;

/**
 * Switches the recording of gradients off on the current thread.
 *
 * <pre>{@code
 * try (GradMode off = GradMode.noGrad()) {
 *     accuracy = evaluate(model);
 * }
 * }</pre>
 */
public final class GradMode implements AutoCloseable {
    private final boolean before;

    private GradMode(boolean on) {
        before = ExecutionContext.current().setGradientsRecorded(on);
    }

    /** Records no operations until it is closed. */
    public static GradMode noGrad() {
        return new GradMode(false);
    }

    /** Restores the previous setting. */
    @Override
    public void close() {
        ExecutionContext.current().setGradientsRecorded(before);
    }
}
