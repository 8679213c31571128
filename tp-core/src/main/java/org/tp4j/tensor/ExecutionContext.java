package org.tp4j.tensor;

import org.jspecify.annotations.Nullable;

/**
 * What is implicit on a thread: the innermost open {@link Scope}; whether operations are recorded for a backward pass
 * ({@link GradMode}); the path of the module being run, for messages and records; and, while a step is being captured, the
 * {@link StepRecording} of its host work; and whether the rank is doing something by itself. World, mesh, groups and seeds are always passed.
 *
 * <p>Besides these, one thing is kept per thread elsewhere: modules count how deep they are nested, to free what sequence
 * parallelism has gathered within them.
 */
public final class ExecutionContext {
    private static final ThreadLocal<ExecutionContext> CURRENT = ThreadLocal.withInitial(ExecutionContext::new);

    private @Nullable Scope scope;
    private boolean gradientsRecorded = true;
    private String modulePath = "";
    private @Nullable StepRecording recording;
    private boolean alone;

    private ExecutionContext() {}

    /** The current thread's context. */
    public static ExecutionContext current() {
        return CURRENT.get();
    }

    /** The innermost open scope, or null. */
    public @Nullable Scope scope() {
        return scope;
    }

    /** Whether operations are recorded for a backward pass. */
    public boolean gradientsRecorded() {
        return gradientsRecorded;
    }

    /** Switches recording on or off; returns the previous setting. */
    public boolean setGradientsRecorded(boolean on) {
        boolean was = gradientsRecorded;
        gradientsRecorded = on;
        return was;
    }

    /** Dotted path of the module being run, empty outside of modules. */
    public String modulePath() {
        return modulePath;
    }

    /** Sets the module path; returns the previous one. */
    public String setModulePath(String path) {
        String was = modulePath;
        modulePath = path;
        return was;
    }

    /** The host work of the step that is being captured on this thread, or null if none is. */
    public @Nullable StepRecording recording() {
        return recording;
    }

    /** Begins the capture of a step or, given null, ends it; for backends. */
    public void setRecording(@Nullable StepRecording next) {
        recording = next;
    }

    /** Whether the thread's rank does something by itself, in {@code Alone.run}. */
    public boolean isAlone() {
        return alone;
    }

    /** Begins or ends what the rank does by itself; returns the previous setting. */
    public boolean setAlone(boolean on) {
        boolean was = alone;
        alone = on;
        return was;
    }

    void enter(@Nullable Scope next) {
        scope = next;
    }

    void leave(Scope expected, @Nullable Scope next) {
        if (scope != expected) {
            throw new IllegalStateException("scope '" + expected.name() + "' is closed out of order or on another"
                    + " thread; HINT: open scopes in try-with-resources, innermost last");
        }
        scope = next;
    }
}
