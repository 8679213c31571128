package org.tp4j.op;

import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.tp4j.layout.Layout;

/**
 * The layout wanted for dimensions that an operation makes anew from whole values, such as those of the gradient of a sum:
 * each rank then makes only its piece.
 */
public final class TargetLayout {
    /** No wish. */
    public static final TargetLayout NONE = new TargetLayout(null);

    private final @Nullable Layout layout;

    private TargetLayout(@Nullable Layout layout) {
        this.layout = layout;
    }

    /** Like a tensor of this layout. */
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
