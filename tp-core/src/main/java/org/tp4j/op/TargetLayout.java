package org.tp4j.op;

import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.tp4j.layout.Layout;

/**
 * The layout to give a result in dimensions that no operand has, such as those that the gradient of a sum is expanded to:
 * each rank then computes only its own shard of them.
 */
public final class TargetLayout {
    /** No target: whole values stay whole. */
    public static final TargetLayout NONE = new TargetLayout(null);

    private final @Nullable Layout layout;

    private TargetLayout(@Nullable Layout layout) {
        this.layout = layout;
    }

    /** That of a tensor; null for a tensor that is on no mesh. */
    public static TargetLayout of(@Nullable Layout layout) {
        return layout == null ? NONE : new TargetLayout(layout);
    }

    /** The layout, or null. */
    public @Nullable Layout layout() {
        return layout;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof TargetLayout that && Objects.equals(layout, that.layout);
    }

    @Override
    public int hashCode() {
        return Objects.hashCode(layout);
    }

    @Override
    public String toString() {
        return String.valueOf(layout);
    }
}
