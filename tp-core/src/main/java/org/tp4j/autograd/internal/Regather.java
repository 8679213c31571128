package org.tp4j.autograd.internal;

import org.jspecify.annotations.Nullable;
import org.tp4j.layout.Layout;
import org.tp4j.tensor.Storage;

/**
 * A whole activation that was gathered from this rank's shard. Steps of the tape keep the shard instead and gather it
 * again (Korthikanti et al., arXiv 2205.05198, section 4.2.2), once for all of them.
 */
final class Regather {
    private final MeshTensor source;
    private final Layout whole;
    private final int version;
    private @Nullable MeshTensor result;
    private int users;

    /**
     * A tensor and where it came from.
     *
     * @param source what was gathered
     * @param result what it became
     */
    Regather(MeshTensor source, MeshTensor result) {
        this.source = source;
        this.whole = result.layout();
        this.version = source.array().storage().version();
        this.result = result;
    }

    /** The shard it is gathered from. */
    MeshTensor source() {
        return source;
    }

    /** Counts one more step that will need it. */
    void addUser() {
        users++;
    }

    /** Starts to gather, unless the whole is still there or arriving. */
    MeshTensor start() {
        MeshTensor there = result;
        if (there == null || there.array().storage().isReleased()) {
            there = Redistribution.gather(source, whole);
            result = there;
        }
        return there;
    }

    /** Whether the shard has been changed in place since. */
    boolean isStale() {
        return source.array().storage().version() != version;
    }

    /** Counts down when a step is done with it; after the last the whole is freed. */
    void done() {
        users--;
        MeshTensor there = result;
        if (users == 0 && there != null) {
            result = null;
            release(there);
        }
    }

    /** Frees a gathered whole, unless a step of the tape needs it as it is. */
    static void release(MeshTensor whole) {
        Storage storage = whole.array().storage();
        if (!storage.isReleased() && !storage.isPinned()) {
            storage.release();
        }
    }
}
