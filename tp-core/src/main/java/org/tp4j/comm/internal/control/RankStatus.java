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
 * Where a rank stands, as it tells the others.
 *
 * @param position the same in words
 * @param latest number of the latest collective it has come to, by group
 * @param underWay the oldest collectives that have not been seen to complete, a few on each group
 */
record RankStatus(String position, Map<String, Long> latest, List<Asked> underWay) {
    /** A rank is stuck in its oldest call, unless nobody has awaited some before. */
    private static final int CALLS_A_GROUP = 8;

    /**
     * A call under way.
     *
     * @param group name of its group
     * @param sequence its number on it
     * @param signature hash of what all ranks' calls have in common if they belong together
     * @param text the call in words
     */
    record Asked(String group, long sequence, int signature, String text) {}

    static RankStatus of(FlightRecorder recorder) {
        List<Asked> underWay = new ArrayList<>();
        for (CallRecord record : recorder.underWay(CALLS_A_GROUP)) {
            underWay.add(
                    new Asked(record.group(), record.sequence(), record.call().signatureHash(), record.asked()));
        }
        return new RankStatus(recorder.position(), recorder.latest(), underWay);
    }

    /** As a message: the words, then a line a group for each map. */
    byte[] toBytes() {
        StringBuilder text = new StringBuilder(oneLine(position));
        latest.forEach((group, sequence) ->
                text.append("\nlatest ").append(sequence).append(' ').append(oneLine(group)));
        for (Asked asked : underWay) {
            text.append("\nasked ").append(asked.sequence()).append(' ').append(asked.signature());
            text.append(' ').append(oneLine(asked.text())).append('\t').append(oneLine(asked.group()));
        }
        return text.toString().getBytes(StandardCharsets.UTF_8);
    }

    private static String oneLine(String text) {
        return text.replace('\n', ' ').replace('\t', ' ');
    }

    static RankStatus read(byte[] message) {
        String[] lines = new String(message, StandardCharsets.UTF_8).split("\n", -1);
        Map<String, Long> latest = new TreeMap<>();
        List<Asked> underWay = new ArrayList<>();
        for (int i = 1; i < lines.length; i++) {
            if (lines[i].startsWith("latest ")) {
                String[] parts = lines[i].split(" ", 3);
                latest.put(parts[2], Long.valueOf(parts[1]));
            } else {
                String[] parts = lines[i].split(" ", 4);
                int tab = parts[3].lastIndexOf('\t');
                underWay.add(new Asked(
                        parts[3].substring(tab + 1),
                        Long.parseLong(parts[1]),
                        Integer.parseInt(parts[2]),
                        parts[3].substring(0, tab)));
            }
        }
        return new RankStatus(lines[0], latest, underWay);
    }

    /** What this rank is to blame for if {@code record} of another one does not complete, in words; null if nothing. */
    @Nullable String blame(CallRecord record) {
        String group = oneLine(record.group());
        Long come = latest.get(group);
        if (come == null || come < record.sequence()) {
            return "is elsewhere: " + position;
        }
        for (Asked asked : underWay) {
            if (asked.sequence() == record.sequence()
                    && oneLine(asked.group()).equals(group)
                    && asked.signature() != record.call().signatureHash()) {
                return "asks something else: " + asked.text();
            }
        }
        return null;
    }
}
