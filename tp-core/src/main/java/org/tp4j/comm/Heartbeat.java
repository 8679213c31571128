package org.tp4j.comm;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * Tells the control channel every now and then where this rank stands, and reads there where the others do: which one is
 * behind when a call does not complete.
 */
public final class Heartbeat implements AutoCloseable {
    private static final String PREFIX = "heartbeat/";
    private static final int SILENT_BEATS = 3; // so many missed, and a rank counts as silent

    private final ControlClient client;
    private final FlightRecorder recorder;
    private final long periodMs;
    private final Thread thread;
    private volatile boolean closed;

    /** Starts to beat for the rank whose calls {@code recorder} keeps. */
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
                client.set(PREFIX + recorder.worldRank(), message());
                Thread.sleep(periodMs);
            }
        } catch (InterruptedException | CommunicationException e) {
            // Closed; or rank 0 is gone, which whoever waits for it is told by report().
            closed = true;
        }
    }

    /** Where the rank stands: a line for people, then a line a group with its latest call. */
    private byte[] message() {
        StringBuilder text = new StringBuilder(recorder.position());
        recorder.latest()
                .forEach((group, call) ->
                        text.append('\n').append(call).append(' ').append(group));
        return text.toString().getBytes(StandardCharsets.UTF_8);
    }

    private static boolean hasCome(String[] lines, CallRecord record) {
        for (int i = 1; i < lines.length; i++) {
            int space = lines[i].indexOf(' ');
            if (lines[i].substring(space + 1).equals(record.group())) {
                return Long.parseLong(lines[i].substring(0, space)) >= record.sequence();
            }
        }
        return false;
    }

    /**
     * Why a call does not complete, in words: which of the peers are silent or have not come to it, and where they are.
     *
     * @param record the call
     * @param peers world ranks that have to take part
     * @param waitedNanos how long this rank has waited
     */
    public String report(CallRecord record, List<Integer> peers, long waitedNanos) {
        StringBuilder text = new StringBuilder(String.format(
                Locale.ROOT, "rank %d has waited %.1f s in %s", recorder.worldRank(), waitedNanos * 1e-9, record));
        Map<Integer, ControlClient.Entry> beats = new HashMap<>();
        Optional<String> noAnswer = read(beats);
        if (noAnswer.isPresent()) {
            return text.append("; rank 0 is silent: ").append(noAnswer.get()).toString();
        }
        List<String> behind = new ArrayList<>();
        for (int peer : peers) {
            ControlClient.Entry beat = beats.get(peer);
            if (peer == recorder.worldRank()) {
                continue;
            }
            if (beat == null) {
                behind.add("rank " + peer + " has given no sign of life");
                continue;
            }
            String[] lines = new String(beat.value(), StandardCharsets.UTF_8).split("\n", -1);
            if (beat.ageMs() > SILENT_BEATS * periodMs) {
                behind.add(String.format(
                        Locale.ROOT, "rank %d has been silent for %.1f s: %s", peer, beat.ageMs() * 1e-3, lines[0]));
            } else if (!hasCome(lines, record)) {
                behind.add("rank " + peer + " is elsewhere: " + lines[0]);
            }
        }
        if (behind.isEmpty()) {
            return text.append("; every rank says that it has come to this call")
                    .toString();
        }
        return text.append("; ").append(String.join("; ", behind)).toString();
    }

    private Optional<String> read(Map<Integer, ControlClient.Entry> beats) {
        try {
            for (ControlClient.Entry entry : client.list(PREFIX)) {
                beats.put(Integer.valueOf(entry.key().substring(PREFIX.length())), entry);
            }
            return Optional.empty();
        } catch (CommunicationException e) {
            return Optional.of(String.valueOf(e.getMessage()));
        }
    }
}
