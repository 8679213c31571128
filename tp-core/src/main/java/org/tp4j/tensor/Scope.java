package org.tp4j.tensor;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Owner of the memory allocated while it is open on the current thread.
 *
 * <pre>{@code
 * try (Scope step = Scope.open()) {
 *     Tensor loss = model.apply(x).square().mean();
 *     loss.backward();
 *     optimizer.step();
 * } // everything the step made goes back to the backend's pool, except parameters, gradients and what was kept
 * }</pre>
 *
 * <p>Scopes nest; each belongs to one thread. Without an open scope memory lives until the garbage collector finds it.
 */
public final class Scope implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Scope.class);
    private static final int SUSPICIOUS_DEPTH = 64; // modules nest less deeply
    private static final int SUSPICIOUS_COUNT = 1 << 17; // hundreds of steps of a large model
    private static final int DESCRIBED = 4;

    private final ExecutionContext context;
    private final @Nullable Scope parent;
    private final int depth;
    private boolean suspected;
    private final String name;
    private final ArrayList<Storage> owned = new ArrayList<>();
    private boolean closed;

    private Scope(ExecutionContext context, String name) {
        this.context = context;
        Scope enclosing = context.scope();
        this.parent = enclosing;
        this.depth = enclosing == null ? 1 : enclosing.depth + 1;
        this.name = name;
    }

    /** Opens a scope on the current thread. */
    public static Scope open() {
        return open("scope");
    }

    /** Opens a scope with a name, which out-of-memory messages show. */
    public static Scope open(String name) {
        ExecutionContext context = ExecutionContext.current();
        Scope scope = new Scope(context, name);
        context.enter(scope);
        if (scope.depth == SUSPICIOUS_DEPTH) {
            LOG.warn(
                    "{} scopes are open on thread '{}', the innermost is '{}': what they own is not freed before they are"
                            + " closed; HINT: each Scope.open belongs in a try-with-resources statement",
                    scope.depth,
                    Thread.currentThread().getName(),
                    name);
        }
        return scope;
    }

    /** The name given when it was opened. */
    public String name() {
        return name;
    }

    /** Bytes this scope holds now. */
    public long bytes() {
        long sum = 0;
        for (Storage storage : owned) {
            sum += storage.isReleased() ? 0 : storage.bytes();
        }
        return sum;
    }

    /** What this scope and the enclosing ones hold, for messages: {@code scope 'step' holds 5 bytes, ...}. */
    public String describeHoldings() {
        StringBuilder text = new StringBuilder();
        int described = 0;
        long others = 0;
        for (Scope scope = this; scope != null; scope = scope.parent) {
            if (described++ >= DESCRIBED) {
                others += scope.bytes();
                continue;
            }
            text.append(text.isEmpty() ? "" : ", ");
            text.append("scope '")
                    .append(scope.name)
                    .append("' holds ")
                    .append(scope.bytes())
                    .append(" bytes");
        }
        if (described > DESCRIBED) {
            text.append(", ")
                    .append(described - DESCRIBED)
                    .append(" enclosing scopes hold ")
                    .append(others)
                    .append(" bytes");
        }
        return text.toString();
    }

    /** The enclosing scope, or null. */
    public @Nullable Scope parent() {
        return parent;
    }

    /** Gives up ownership of {@code storage}; returns whether this scope owned it. */
    public boolean disown(Storage storage) {
        for (int i = owned.size() - 1; i >= 0; i--) {
            if (owned.get(i) == storage) {
                owned.remove(i);
                return true;
            }
        }
        return false;
    }

    /** Makes this scope the owner of {@code storage}; backends call it for what they allocate. */
    public void own(Storage storage) {
        owned.add(storage);
        if (owned.size() == SUSPICIOUS_COUNT && !suspected) {
            suspected = true;
            LOG.warn(
                    "scope '{}' owns {} arrays of {} bytes, and frees them when it is closed; HINT: if it spans a loop, call"
                            + " Scope.open for each step",
                    name,
                    SUSPICIOUS_COUNT,
                    bytes());
        }
    }

    /**
     * Hands {@code storage} over to the enclosing scope, or to the garbage collector if there is none. Does nothing if
     * this scope does not own it.
     */
    public void keep(Storage storage) {
        if (disown(storage) && parent != null) {
            parent.own(storage);
        }
    }

    /**
     * Hands the memory of a tensor or array over to the enclosing scope, or to the garbage collector; returns the tensor.
     */
    public <T extends HasStorage> T keep(T tensor) {
        keep(tensor.storage());
        return tensor;
    }

    /**
     * Frees what the scope still owns.
     *
     * @throws IllegalStateException if it is not the innermost scope of its thread
     */
    @Override
    public void close() {
        if (closed) {
            throw new IllegalStateException("scope '" + name + "' is closed twice");
        }
        context.leave(this, parent);
        closed = true;
        List<Storage> list = owned;
        for (int i = list.size() - 1; i >= 0; i--) {
            Storage storage = list.get(i);
            if (!storage.isReleased()) {
                storage.release();
            }
        }
        owned.clear();
    }

    /**
     * Runs {@code body} as if no scope were open: what it allocates outlives the current scope. For parameters,
     * optimizer state and the like.
     */
    public static <T> T outside(java.util.function.Supplier<T> body) {
        ExecutionContext context = ExecutionContext.current();
        Scope scope = context.scope();
        context.enter(null);
        try {
            return body.get();
        } finally {
            context.enter(scope);
        }
    }
}
