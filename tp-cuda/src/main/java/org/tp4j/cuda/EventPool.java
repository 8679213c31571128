package org.tp4j.cuda;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import jcuda.driver.CUevent_flags;

/** Events of a device, made once and used again. */
final class EventPool {
    private final CudaDevice device;
    private final ArrayDeque<CudaEvent> free = new ArrayDeque<>();
    private final List<CudaEvent> all = new ArrayList<>();
    private final AtomicLong marks = new AtomicLong();

    EventPool(CudaDevice device) {
        this.device = device;
    }

    synchronized CudaEvent take() {
        CudaEvent event = free.poll();
        if (event == null) {
            event = new CudaEvent(device, this, CUevent_flags.CU_EVENT_DISABLE_TIMING);
            all.add(event);
        }
        event.setTaken(true);
        return event;
    }

    /** The number of a point that is marked: no two points of the device have the same. */
    long nextMark() {
        return marks.incrementAndGet();
    }

    synchronized void give(CudaEvent event) {
        if (event.isTaken()) {
            event.setTaken(false);
            free.push(event);
        }
    }

    synchronized void release() {
        device.makeCurrent();
        all.forEach(CudaEvent::destroy);
        all.clear();
        free.clear();
    }
}
