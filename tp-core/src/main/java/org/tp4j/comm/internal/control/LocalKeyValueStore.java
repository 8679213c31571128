package org.tp4j.comm.internal.control;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.tp4j.comm.CommunicationException;
import org.tp4j.comm.engine.KeyValueStore;

/** A key-value store for ranks that are threads of this JVM. */
public final class LocalKeyValueStore implements KeyValueStore {
    private final Map<String, byte[]> values = new HashMap<>();

    @Override
    public synchronized void set(String key, byte[] value) {
        values.put(key, value.clone());
        notifyAll();
    }

    @Override
    public synchronized Optional<byte[]> get(String key) {
        return Optional.ofNullable(values.get(key)).map(byte[]::clone);
    }

    @Override
    public synchronized byte[] await(String key, long timeoutMs) {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMs);
        try {
            while (!values.containsKey(key)) {
                long leftMs = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
                if (leftMs <= 0) {
                    throw new CommunicationException("no rank has set '" + key + "' within " + timeoutMs + " ms");
                }
                wait(leftMs);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CommunicationException("interrupted while waiting for '" + key + "'", e);
        }
        return values.get(key).clone();
    }
}
