package org.tp4j.cuda;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import jcuda.driver.CUevent_flags;

/** Events of a device, made once and used again. */
final class EventPool {
    private final CudaDevice device;
    private final ArrayDeque<CudaEvent> free = new ArrayDeque<>();
    private final List<CudaEvent> all = new ArrayList<>();

    EventPool(CudaDevice device) {
        this.device = device;
    }

    synchronized CudaEvent take() {
        CudaEvent event = free.poll();
        if (event == null) {
            event = new CudaEvent(device, this, CUevent_flags.CU_EVENT_DISABLE_TIMING, all.size());
            all.add(event);
        }
        event.setTaken(true);
        return event;
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
