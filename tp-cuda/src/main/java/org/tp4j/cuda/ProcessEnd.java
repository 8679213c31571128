package org.tp4j.cuda;

import java.util.concurrent.atomic.AtomicBoolean;

/** The orderly end of a process that has used devices: what is idle is given back before the driver's own end. */
final class ProcessEnd {
    private static final AtomicBoolean WATCHED = new AtomicBoolean();

    private ProcessEnd() {}

    /** Has the devices released when the process ends; once. */
    static void watch() {
        if (WATCHED.compareAndSet(false, true)) {
            try {
                Runtime.getRuntime().addShutdownHook(new Thread(CudaBackend::releaseIdle, "tp4j-cuda-end"));
            } catch (IllegalStateException e) {
                // The process is ending already.
            }
        }
    }
}
