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

/** The captured steps of a device that are not closed, and who watches their runs. */
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

    /** A step that is captured at its third run; its {@code close} removes it. */
    public CapturedStep capture(Runnable step) {
        GraphStep captured = new GraphStep(site, step);
        open.add(captured);
        return captured;
    }

    /** Tells {@code newWatcher} of each launch, with an event that it closes and that is done when the step is; or null. */
    public void watch(@Nullable Consumer<CudaEvent> newWatcher) {
        watcher = newWatcher;
    }

    /** Whether somebody watches the launches. */
    public boolean isWatched() {
        return watcher != null;
    }

    /** Destroys the graphs of the steps that work on several streams. */
    public void retireThoseOfSeveralStreams() {
        open.forEach(GraphStep::retireIfOfSeveralStreams);
    }

    private void launched() {
        Consumer<CudaEvent> current = watcher;
        if (current != null) {
            current.accept(site.streams().compute().record());
        }
    }

    /** Throws if a run that the host has waited for was given ids that are not allowed. */
    public void verify() {
        for (GraphStep step : open) {
            step.verify();
        }
    }
}
