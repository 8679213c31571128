package org.tp4j.comm.record;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;
import org.tp4j.comm.internal.agreement.Ledger;

/** Keeps the last calls of one rank on all its groups, so that a crash or a hang leaves a trace of what was under way. */
public final class FlightRecorder {
    private static final int CAPACITY = 256; // a few training steps of a small model, 20 kB

    private final int worldRank;
    private final AtomicReferenceArray<@Nullable CallRecord> ring = new AtomicReferenceArray<>(CAPACITY);
    private final AtomicLong calls = new AtomicLong();
    private final Ledger ledger;
    private final Map<String, AtomicLong> latest = new ConcurrentHashMap<>();

    /** An empty recorder for a rank. */
    public FlightRecorder(int worldRank) {
        this.worldRank = worldRank;
        this.ledger = new Ledger(worldRank);
    }

    /** What the other ranks must have called as well. */
    public Ledger ledger() {
        return ledger;
    }

    /** The world rank it belongs to. */
    public int worldRank() {
        return worldRank;
    }

    /** Adds a call; the oldest one is dropped when the recorder is full. */
    public void add(CallRecord record) {
        if (!record.call().kind().isPointToPoint()) {
            AtomicLong number = latest.get(record.group());
            if (number == null) {
                number = latest.computeIfAbsent(record.group(), any -> new AtomicLong());
            }
            number.set(record.sequence());
        }
        ring.setRelease((int) (calls.getAndIncrement() % CAPACITY), record);
    }

    /** Number of calls made so far. */
    public long calls() {
        return calls.get();
    }

    /** The latest call, or null before the first. */
    public @Nullable CallRecord last() {
        long n = calls.get();
        return n == 0 ? null : ring.getAcquire((int) ((n - 1) % CAPACITY));
    }

    /** The calls still kept, oldest first. */
    public List<CallRecord> records() {
        long end = calls.get();
        List<CallRecord> result = new ArrayList<>();
        for (long i = Math.max(0, end - CAPACITY); i < end; i++) {
            CallRecord record = ring.getAcquire((int) (i % CAPACITY));
            if (record != null) {
                result.add(record);
            }
        }
        return result;
    }

    /** The progress of the rank, in one line. */
    public String position() {
        CallRecord last = last();
        if (last == null) {
            return "rank " + worldRank + " has made no call yet";
        }
        String state = last.state() == CallRecord.State.DONE ? "done" : "not complete";
        return "rank " + worldRank + " has made " + calls() + (calls() == 1 ? " call" : " calls") + ", the last " + last
                + " (" + state + ")";
    }

    /** The number of the latest collective on each group. */
    public Map<String, Long> latest() {
        Map<String, Long> result = new TreeMap<>();
        latest.forEach((group, number) -> result.put(group, number.get()));
        return result;
    }

    /** The oldest collectives that have neither completed nor failed, among the calls still kept. */
    public List<CallRecord> underWay(int callsPerGroup) {
        Map<String, Integer> counts = new TreeMap<>();
        List<CallRecord> oldest = new ArrayList<>();
        for (CallRecord record : records()) {
            if (!record.call().kind().isPointToPoint()
                    && record.state() == CallRecord.State.POSTED
                    && counts.merge(record.group(), 1, Integer::sum) <= callsPerGroup) {
                oldest.add(record);
            }
        }
        return oldest;
    }

    /** The latest collectives that have completed or failed, among the calls still kept. */
    public List<CallRecord> latestOver(int callsPerGroup) {
        Map<String, Integer> counts = new TreeMap<>();
        List<CallRecord> found = new ArrayList<>();
        List<CallRecord> all = records();
        for (int i = all.size() - 1; i >= 0; i--) {
            CallRecord record = all.get(i);
            if (!record.call().kind().isPointToPoint()
                    && record.state() != CallRecord.State.POSTED
                    && counts.merge(record.group(), 1, Integer::sum) <= callsPerGroup) {
                found.add(record);
            }
        }
        return found;
    }

    /**
     * Writes all kept calls into a new file, which only this user can read and whose name nobody can predict.
     *
     * @param folder the folder, created if missing
     * @param reason what ended the rank; becomes the first line
     */
    public Path write(Path folder, String reason) throws IOException {
        Files.createDirectories(folder);
        String name =
                "tp4j-flight-rank" + worldRank + "-" + ProcessHandle.current().pid() + "-";
        return Files.writeString(Files.createTempFile(folder, name, ".txt"), reason + "\n" + dump());
    }

    /** All kept calls as text, one per line. */
    public String dump() {
        StringBuilder text = new StringBuilder();
        text.append("flight record of rank ")
                .append(worldRank)
                .append(": ")
                .append(calls())
                .append(" calls\n");
        long now = System.nanoTime();
        for (CallRecord record : records()) {
            text.append(String.format(
                    Locale.ROOT,
                    "%10.3f s ago  %-6s  %s%n",
                    (now - record.postedNanos()) * 1e-9,
                    record.state(),
                    record));
        }
        return text.toString();
    }
}
