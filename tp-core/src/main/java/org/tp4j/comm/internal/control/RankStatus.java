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
 * @param calls on each group its oldest collectives not known to be complete, and its latest ones
 */
public record RankStatus(String position, Map<String, Long> latest, List<Call> calls) {
    /** A rank is stuck in its oldest call, unless it has not awaited earlier ones. */
    private static final int CALLS_PER_GROUP = 8;

    private static final int MAX_CALLS = 1_000;

    /** States of a call. */
    enum State {
        /** Started; the rank goes on. */
        STARTED,
        /** The rank waits for it. */
        AWAITED,
        /** Over. */
        OVER
    }

    /**
     * A call.
     *
     * @param group name of its group
     * @param sequence its number on the group
     * @param signature hash of what all ranks' calls have in common if they belong together
     * @param state what the rank does about it
     * @param text the call as text
     */
    record Call(String group, long sequence, int signature, State state, String text) {
        static Call of(CallRecord record) {
            State state = record.state() != CallRecord.State.POSTED
                    ? State.OVER
                    : record.isAwaited() ? State.AWAITED : State.STARTED;
            return new Call(
                    record.group(), record.sequence(), record.call().signatureHash(), state, record.callInModule());
        }

        String described() {
            return "call " + sequence + " on group '" + group + "': " + text;
        }
    }

    /** The status of a rank that has not said anything. */
    static RankStatus unknown() {
        return new RankStatus("", Map.of(), List.of());
    }

    /** The status of the rank whose calls {@code recorder} keeps. */
    public static RankStatus of(FlightRecorder recorder) {
        List<Call> calls = new ArrayList<>();
        for (CallRecord record : recorder.underWay(CALLS_PER_GROUP)) {
            calls.add(Call.of(record));
        }
        for (CallRecord record : recorder.latestOver(CALLS_PER_GROUP)) {
            calls.add(Call.of(record));
        }
        return new RankStatus(recorder.position(), recorder.latest(), calls);
    }

    /** Whether nothing is known. */
    boolean isUnknown() {
        return position.isEmpty();
    }

    /** As a message: the position, then one line per group and one per call. */
    byte[] toBytes() {
        StringBuilder text = new StringBuilder(oneLine(position));
        latest.forEach((group, sequence) ->
                text.append("\nlatest ").append(sequence).append(' ').append(oneLine(group)));
        for (Call call : calls) {
            text.append("\ncall ").append(call.sequence()).append(' ').append(call.signature());
            text.append(' ').append(call.state().ordinal()).append(' ').append(oneLine(call.text()));
            text.append('\t').append(oneLine(call.group()));
        }
        return text.toString().getBytes(StandardCharsets.UTF_8);
    }

    private static String oneLine(String text) {
        return text.replace('\n', ' ').replace('\t', ' ');
    }

    /** What {@link #toBytes} has written; lines that make no sense are left out. */
    static RankStatus read(byte[] message) {
        String[] lines = new String(message, StandardCharsets.UTF_8).split("\n", -1);
        Map<String, Long> latest = new TreeMap<>();
        List<Call> calls = new ArrayList<>();
        for (int i = 1; i < lines.length && i <= MAX_CALLS; i++) {
            try {
                if (lines[i].startsWith("latest ")) {
                    String[] parts = lines[i].split(" ", 3);
                    latest.put(ForeignText.escape(parts[2]), Long.valueOf(parts[1]));
                } else {
                    calls.add(readCall(lines[i].split(" ", 5)));
                }
            } catch (IndexOutOfBoundsException | NumberFormatException e) {
                continue; // not written by a rank
            }
        }
        return new RankStatus(ForeignText.escape(lines[0]), latest, calls);
    }

    private static Call readCall(String[] parts) {
        int tab = parts[4].lastIndexOf('\t');
        return new Call(
                ForeignText.escape(parts[4].substring(tab + 1)),
                Long.parseLong(parts[1]),
                Integer.parseInt(parts[2]),
                State.values()[Integer.parseInt(parts[3])],
                ForeignText.escape(parts[4].substring(0, tab)));
    }

    /** Whether this rank has made its part of another rank's {@code record}. */
    boolean hasReached(CallRecord record) {
        Long reached = latest.get(nameOf(record));
        return reached != null && reached >= record.sequence();
    }

    /** What this rank called instead of another rank's {@code record}, under the same number; null if it is not known. */
    @Nullable String differentCall(CallRecord record) {
        for (Call call : calls) {
            if (call.sequence() == record.sequence()
                    && call.group().equals(nameOf(record))
                    && call.signature() != record.call().signatureHash()) {
                return call.text();
            }
        }
        return null;
    }

    /** Why this rank keeps another rank's {@code record} from completing; null if it does not. */
    @Nullable String blame(CallRecord record) {
        if (!hasReached(record)) {
            return elsewhere();
        }
        String different = differentCall(record);
        return different == null ? null : "made a different call: " + different;
    }

    /** Where the rank is: the call it waits in, which may be on another group, and how far it came. */
    String elsewhere() {
        for (Call call : calls) {
            if (call.state() == State.AWAITED) {
                return "waits in " + call.described() + "; " + position;
            }
        }
        for (Call call : calls) {
            if (call.state() == State.STARTED) {
                return "has started " + call.described() + "; " + position;
            }
        }
        return "is elsewhere: " + position;
    }

    private static String nameOf(CallRecord record) {
        return ForeignText.escape(oneLine(record.group()));
    }
}
