package org.tp4j.cuda.internal.capture;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.tp4j.cuda.internal.driver.CudaDevice;
import org.tp4j.cuda.internal.driver.DeviceHealth;
import org.tp4j.cuda.internal.driver.DeviceStreams;
import org.tp4j.cuda.internal.memory.MemoryPool;
import org.tp4j.cuda.stream.CudaEvent;
import org.tp4j.tensor.CapturedStep;

/** A device's open captured steps, and the watcher of their runs. */
public final class CapturedSteps {
    private final StepSite site;
    private final List<GraphStep> open = new CopyOnWriteArrayList<>();
    private final AtomicInteger captures = new AtomicInteger();
    private volatile @Nullable Consumer<CudaEvent> watcher;

    /** No steps yet. */
    public CapturedSteps(CudaDevice device, DeviceStreams streams, MemoryPool pool, DeviceHealth health) {
        this.site =
                new StepSite(device, streams, pool, health, captures::incrementAndGet, this::launched, open::remove);
    }

    /** A step that is captured on its third run; its {@code close} removes it. */
    public CapturedStep capture(Runnable step) {
        GraphStep captured = new GraphStep(site, step);
        open.add(captured);
        return captured;
    }

    /** Notifies {@code newWatcher}, if not null, of each launch, with an event of the step's end that the watcher closes. */
    public void watch(@Nullable Consumer<CudaEvent> newWatcher) {
        watcher = newWatcher;
    }

    /** Whether launches are watched. */
    public boolean isWatched() {
        return watcher != null;
    }

    /** Destroys the graphs of steps that use several streams. */
    public void retireThoseOfSeveralStreams() {
        open.forEach(GraphStep::retireIfOfSeveralStreams);
    }

    private void launched() {
        Consumer<CudaEvent> current = watcher;
        if (current != null) {
            current.accept(site.streams().compute().record());
        }
    }

    /** Throws if a run that the host has waited for was given ids out of range. */
    public void verify() {
        for (GraphStep step : open) {
            step.verify();
        }
    }
}
