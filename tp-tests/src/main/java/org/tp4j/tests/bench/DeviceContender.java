package org.tp4j.tests.bench;

import org.tp4j.cuda.CudaBackend;
import org.tp4j.cuda.CudaTimer;

/**
 * Work for one device, timed by the device's clock over bursts of calls: the host runs ahead within a burst, as it does in
 * training, and waits between bursts.
 */
final class DeviceContender implements Contender {
    private static final int LEAST_CALLS = 4; // a captured step is captured at the third call
    private static final int MOST_CALLS = 200;

    private final String name;
    private final CudaBackend backend;
    private final CudaTimer timer;
    private final Runnable body;
    private final Pace pace;
    private int calls = 1;

    DeviceContender(String name, CudaBackend backend, Pace pace, Runnable body) {
        this.name = name;
        this.backend = backend;
        this.timer = new CudaTimer(backend);
        this.pace = pace;
        this.body = body;
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public void warmUp() {
        long until = System.nanoTime() + pace.warmUpMs() * 1_000_000L;
        for (int i = 0; i < LEAST_CALLS || System.nanoTime() < until; i++) {
            body.run();
            backend.synchronize();
        }
        calls = (int) Math.max(1, Math.min(MOST_CALLS, Math.round(pace.burstMs() / Math.max(1e-4, time()))));
    }

    @Override
    public double time() {
        timer.start();
        for (int i = 0; i < calls; i++) {
            body.run();
        }
        timer.stop();
        return timer.elapsedMs() / calls;
    }

    @Override
    public void close() {
        timer.close();
    }
}
