package org.tp4j.comm.internal.control;

import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.tp4j.comm.CommunicationException;
import org.tp4j.comm.engine.Stragglers;
import org.tp4j.comm.record.CallRecord;
import org.tp4j.comm.record.FlightRecorder;

/**
 * Periodically publishes this rank's status on the control channel, and reads the others' there to find out which one is
 * behind when a call does not complete.
 */
public final class Heartbeat implements Stragglers, AutoCloseable {
    private static final String PREFIX = "heartbeat/";
    private static final String FAILED = "failed";
    private static final int SILENT_BEATS = 3; // a rank that has missed this many counts as silent

    private final ControlClient client;
    private final FlightRecorder recorder;
    private final long periodMs;
    private final Thread thread;
    private volatile boolean closed;
    private volatile @Nullable String failure;

    /** Starts the heartbeat of the rank whose calls {@code recorder} keeps. */
    public Heartbeat(ControlClient client, FlightRecorder recorder, long periodMs) {
        this.client = client;
        this.recorder = recorder;
        this.periodMs = periodMs;
        this.thread = new Thread(this::beat, "tp4j-heartbeat");
        thread.setDaemon(true);
        thread.start();
    }

    @Override
    public void close() {
        closed = true;
        thread.interrupt();
    }

    private void beat() {
        try {
            while (!closed) {
                client.set(
                        PREFIX + recorder.worldRank(), RankStatus.of(recorder).toBytes());
                if (failure == null) {
                    failure = client.get(FAILED)
                            .map(text -> new String(text, StandardCharsets.UTF_8))
                            .orElse(null);
                }
                Thread.sleep(periodMs);
            }
        } catch (InterruptedException | CommunicationException e) {
            // Closed; or rank 0 is gone, which report() tells whoever waits for it.
            closed = true;
        }
    }

    /** Announces that this rank has failed, unless another rank has announced a failure before. */
    public void announceFailure(Throwable reason) {
        if (client.get(FAILED).isEmpty()) {
            String text = "rank " + recorder.worldRank() + " has failed: " + reason;
            client.set(FAILED, text.getBytes(StandardCharsets.UTF_8));
        }
    }

    @Override
    public Optional<String> failure() {
        return Optional.ofNullable(failure);
    }

    @Override
    public String report(CallRecord record, List<Integer> peers, long waitedNanos) {
        Map<Integer, ControlClient.Entry> beats = new HashMap<>();
        try {
            for (ControlClient.Entry entry : client.list(PREFIX)) {
                beats.put(Integer.valueOf(entry.key().substring(PREFIX.length())), entry);
            }
        } catch (CommunicationException e) {
            return StragglerReport.waited(record, recorder.worldRank(), waitedNanos) + "; rank 0 is silent: "
                    + e.getMessage();
        }
        return StragglerReport.of(record, recorder.worldRank(), peers, waitedNanos, peer -> {
            ControlClient.Entry beat = beats.get(peer);
            return beat == null
                    ? null
                    : new StragglerReport.Seen(
                            RankStatus.read(beat.value()), beat.ageMs(), beat.ageMs() > SILENT_BEATS * periodMs);
        });
    }
}
