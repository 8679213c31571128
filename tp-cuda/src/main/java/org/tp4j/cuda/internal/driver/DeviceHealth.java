package org.tp4j.cuda.internal.driver;

import org.jspecify.annotations.Nullable;

/** Whether a device's results can be trusted. Set by whoever sees an asynchronous failure, checked before each use. */
public final class DeviceHealth {
    private volatile @Nullable RuntimeException failure;

    /** Makes {@link #check} throw {@code reason}; the first reason stays. */
    public void fail(RuntimeException reason) {
        if (failure == null) {
            failure = reason;
        }
    }

    /** Clears the failure. */
    public void recover() {
        failure = null;
    }

    /** Whether there is a failure. */
    public boolean hasFailed() {
        return failure != null;
    }

    /** Throws the failure, if there is one. */
    public void check() {
        RuntimeException reason = failure;
        if (reason != null) {
            throw reason;
        }
    }
}
