package org.tp4j.comm.internal.control;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.tp4j.comm.record.CallRecord;
import org.tp4j.comm.record.FlightRecorder;

/**
 * A rank's progress, as it reports it to the others.
 *
 * @param position its latest call, as text
 * @param latest number of the latest collective it has called, by group
 * @param pending its oldest collectives not known to be complete, a few per group
 */
record RankStatus(String position, Map<String, Long> latest, List<PendingCall> pending) {
    /** A rank is stuck in its oldest call, unless it has not awaited earlier ones. */
    private static final int CALLS_PER_GROUP = 8;

    /**
     * A call under way.
     *
     * @param group name of its group
     * @param sequence its number on the group
     * @param signature hash of what all ranks' calls have in common if they belong together
     * @param text the call as text
     */
    record PendingCall(String group, long sequence, int signature, String text) {}

    static RankStatus of(FlightRecorder recorder) {
        List<PendingCall> pending = new ArrayList<>();
        for (CallRecord record : recorder.underWay(CALLS_PER_GROUP)) {
            pending.add(new PendingCall(
                    record.group(), record.sequence(), record.call().signatureHash(), record.callInModule()));
        }
        return new RankStatus(recorder.position(), recorder.latest(), pending);
    }

    /** As a message: the position, then one line per group and one per pending call. */
    byte[] toBytes() {
        StringBuilder text = new StringBuilder(oneLine(position));
        latest.forEach((group, sequence) ->
                text.append("\nlatest ").append(sequence).append(' ').append(oneLine(group)));
        for (PendingCall call : pending) {
            text.append("\npending ").append(call.sequence()).append(' ').append(call.signature());
            text.append(' ').append(oneLine(call.text())).append('\t').append(oneLine(call.group()));
        }
        return text.toString().getBytes(StandardCharsets.UTF_8);
    }

    private static String oneLine(String text) {
        return text.replace('\n', ' ').replace('\t', ' ');
    }

    static RankStatus read(byte[] message) {
        String[] lines = new String(message, StandardCharsets.UTF_8).split("\n", -1);
        Map<String, Long> latest = new TreeMap<>();
        List<PendingCall> pending = new ArrayList<>();
        for (int i = 1; i < lines.length; i++) {
            if (lines[i].startsWith("latest ")) {
                String[] parts = lines[i].split(" ", 3);
                latest.put(parts[2], Long.valueOf(parts[1]));
            } else {
                String[] parts = lines[i].split(" ", 4);
                int tab = parts[3].lastIndexOf('\t');
                pending.add(new PendingCall(
                        parts[3].substring(tab + 1),
                        Long.parseLong(parts[1]),
                        Integer.parseInt(parts[2]),
                        parts[3].substring(0, tab)));
            }
        }
        return new RankStatus(lines[0], latest, pending);
    }

    /** Why this rank keeps another rank's {@code record} from completing; null if it does not. */
    @Nullable String blame(CallRecord record) {
        String group = oneLine(record.group());
        Long reached = latest.get(group);
        if (reached == null || reached < record.sequence()) {
            return "is elsewhere: " + position;
        }
        for (PendingCall call : pending) {
            if (call.sequence() == record.sequence()
                    && oneLine(call.group()).equals(group)
                    && call.signature() != record.call().signatureHash()) {
                return "made a different call: " + call.text();
            }
        }
        return null;
    }
}
