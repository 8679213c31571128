package org.tp4j.cuda.internal.driver;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import jcuda.driver.CUevent_flags;

/** A device's events, created once and reused. */
public final class EventPool {
    private final CudaDevice device;
    private final Consumer<DeviceEvent> giver = this::give;
    private final ArrayDeque<DeviceEvent> free = new ArrayDeque<>();
    private final List<DeviceEvent> all = new ArrayList<>();
    private final AtomicLong marks = new AtomicLong();

    public EventPool(CudaDevice device) {
        this.device = device;
    }

    synchronized DeviceEvent take() {
        DeviceEvent event = free.poll();
        if (event == null) {
            event = new DeviceEvent(device, giver, CUevent_flags.CU_EVENT_DISABLE_TIMING);
            all.add(event);
        }
        event.setTaken(true);
        return event;
    }

    /** The number of a newly marked point, unique on the device. */
    long nextMark() {
        return marks.incrementAndGet();
    }

    private synchronized void give(DeviceEvent event) {
        if (event.isTaken()) {
            event.setTaken(false);
            free.push(event);
        }
    }

    /** Destroys all events. */
    public synchronized void release() {
        device.makeCurrent();
        all.forEach(DeviceEvent::destroy);
        all.clear();
        free.clear();
    }
}
