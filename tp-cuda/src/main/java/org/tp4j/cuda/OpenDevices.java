package org.tp4j.cuda;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.tp4j.cuda.internal.compile.ImageRegistry;

/**
 * The devices that this process has opened, and the compiled kernels they share. This is the backend's only mutable state per
 * process: a device has one primary context, one memory and one set of kernels per process, whoever asks for it.
 */
final class OpenDevices {
    /** This process's. */
    static final OpenDevices PROCESS = new OpenDevices();

    private final Map<Integer, CudaBackend> backends = new HashMap<>(); // guarded by this
    private @Nullable ImageRegistry images; // guarded by this
    private boolean releasedAtExit; // guarded by this

    private OpenDevices() {}

    /** The backend of a device; opens it on the first call. */
    synchronized CudaBackend get(int index) {
        CudaBackend backend = backends.get(index);
        if (backend == null) {
            if (!releasedAtExit) {
                releaseAtExit();
            }
            CudaLibraries libraries = CudaLibraries.load();
            if (images == null) {
                images = new ImageRegistry(libraries.nvrtc());
            }
            backend = new CudaBackend(index, libraries.deviceCount(), images);
            backends.put(index, backend);
        }
        return backend;
    }

    /** Releases all devices. */
    synchronized void releaseAll() {
        List<CudaBackend> open = new ArrayList<>(backends.values());
        backends.clear();
        open.forEach(CudaBackend::release);
    }

    /** Idle devices are released before the driver's own cleanup at the end of the process. */
    private void releaseAtExit() {
        releasedAtExit = true;
        try {
            Runtime.getRuntime().addShutdownHook(new Thread(this::releaseIdle, "tp4j-cuda-end"));
        } catch (IllegalStateException e) {
            // The process is already ending.
        }
    }

    /** Releases devices without pending work; the driver cleans up the devices of a job that is still running. */
    private synchronized void releaseIdle() {
        backends.values().removeIf(backend -> {
            boolean idle = backend.isIdle();
            if (idle) {
                backend.release();
            }
            return idle;
        });
    }
}
