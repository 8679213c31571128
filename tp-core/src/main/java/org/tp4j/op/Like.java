package org.tp4j.op;

import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.tp4j.layout.Layout;

/**
 * The layout wanted for dimensions that an operation makes anew from whole values, such as those of the gradient of a sum:
 * each rank then makes only its piece.
 */
public final class Like {
    /** No wish. */
    public static final Like NONE = new Like(null);

    private final @Nullable Layout layout;

    private Like(@Nullable Layout layout) {
        this.layout = layout;
    }

    /** Like a tensor of this layout. */
    public static Like of(@Nullable Layout layout) {
        return layout == null ? NONE : new Like(layout);
    }

    /** The layout, or null. */
    public @Nullable Layout layout() {
        return layout;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Like that && Objects.equals(layout, that.layout);
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
