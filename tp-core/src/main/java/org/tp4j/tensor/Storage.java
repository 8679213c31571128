package org.tp4j.tensor;

/**
 * A block of a device's memory holding elements of one type, with one owner: the {@link Scope} it was allocated in, or
 * whoever {@linkplain Scope#keep kept} it.
 *
 * <p>The version counts changes in place, so that a gradient computed from a value that has been overwritten since is
 * refused.
 */
public abstract class Storage {
    private final DType dtype;
    private final long size;
    private int version;
    private int pins;
    private volatile boolean released;

    /** A block of {@code size} elements. */
    protected Storage(DType dtype, long size) {
        this.dtype = dtype;
        this.size = size;
    }

    /** Type of the elements. */
    public final DType dtype() {
        return dtype;
    }

    /** Number of elements. */
    public final long size() {
        return size;
    }

    /** Bytes held. */
    public final long bytes() {
        return size * dtype.bytes();
    }

    /** How often the content has been changed in place. */
    public final int version() {
        return version;
    }

    /** Counts a change in place. */
    public final void markChanged() {
        version++;
    }

    /** Counts one more step of a tape that needs the content unchanged. */
    public final void pin() {
        pins++;
    }

    /** Counts one step less. */
    public final void unpin() {
        pins--;
    }

    /** Whether a step of a tape needs the content unchanged. */
    public final boolean isPinned() {
        return pins > 0;
    }

    /** Whether the memory has been given back. */
    public final boolean isReleased() {
        return released;
    }

    /**
     * Gives the memory back.
     *
     * @throws IllegalStateException if it has been given back already
     */
    public final void release() {
        if (released) {
            throw new IllegalStateException(describe() + " is released twice");
        }
        released = true;
        free();
    }

    /**
     * Checks that the memory is still held.
     *
     * @throws IllegalStateException if it has been given back
     */
    public final void checkLive() {
        if (released) {
            throw new IllegalStateException(describe() + " is used after its scope has freed it; HINT: keep what must"
                    + " outlive a scope with Scope.keep(tensor)");
        }
    }

    private String describe() {
        return "memory of " + size + " " + dtype + " elements";
    }

    /** Returns the memory to the device; called once. */
    protected abstract void free();
}
