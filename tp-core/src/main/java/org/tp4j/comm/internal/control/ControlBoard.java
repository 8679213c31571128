package org.tp4j.comm.internal.control;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tp4j.comm.CommunicationException;
import org.tp4j.comm.engine.KeyValueStore;

/**
 * What the ranks of a job tell each other outside of collectives: values under keys, their progress, words they post, and
 * notices that all get to know, such as that a rank has ended. It lies with rank 0, behind a {@link ControlServer}; ranks that
 * are threads share it. What one rank may store is limited. Thread-safe.
 */
public final class ControlBoard implements KeyValueStore {
    /** Most bytes of a value, a status or a posted word. */
    public static final int MAX_VALUE_BYTES = 1 << 20;

    /** Most characters of a key or topic. */
    public static final int MAX_KEY_CHARS = 256;

    /** The topic of notices that a rank has ended. */
    static final String ENDED = "ended";

    static final int MAX_KEYS_PER_RANK = 10_000;
    static final long MAX_BYTES_PER_RANK = 16L << 20;
    private static final int MAX_NOTICES = 100_000;
    private static final int MAX_NOTICE_BYTES = 1 << 16;
    private static final long MAX_ALL_NOTICE_BYTES = 32L << 20;

    private static final Logger LOG = LoggerFactory.getLogger(ControlBoard.class);

    private final int ranks;
    private final Map<String, Stored> store = new TreeMap<>();
    private final int[] keys;
    private final long[] bytes;
    private final Map<Integer, Beat> beats = new HashMap<>();
    private final List<Notice> notices = new ArrayList<>();
    private long noticeBytes;
    private final Map<Integer, RankEnd> ends = new HashMap<>();
    private final Map<String, PostHandler> handlers = new ConcurrentHashMap<>();

    /** Takes what the ranks post on a topic. Called by one thread per rank, in the order in which that rank has posted. */
    public interface PostHandler {
        /**
         * Takes a post. Must not block.
         *
         * @param rank who posted it
         * @param words what it posted
         */
        void posted(int rank, byte[] words);
    }

    /**
     * Something that all ranks get to know.
     *
     * @param number its number, from 1
     * @param topic what kind of notice it is
     * @param content its content
     */
    @SuppressWarnings("ArrayRecordComponent") // created and read once
    record Notice(long number, String topic, byte[] content) {}

    @SuppressWarnings("ArrayRecordComponent")
    private record Stored(int owner, byte[] value) {}

    /**
     * A rank's latest report of its progress.
     *
     * @param status its progress
     * @param atNanos when it came
     */
    @SuppressWarnings("ArrayRecordComponent")
    private record Beat(byte[] status, long atNanos) {}

    /** A board of so many ranks. */
    public ControlBoard(int ranks) {
        this.ranks = ranks;
        this.keys = new int[ranks];
        this.bytes = new long[ranks];
        BoardAgreement.serve(this);
    }

    /** Number of ranks. */
    public int ranks() {
        return ranks;
    }

    @Override
    public void set(String key, byte[] value) {
        set(0, key, value);
    }

    /**
     * Stores a value for a rank.
     *
     * @throws CommunicationException if it is more than the rank may store
     */
    synchronized void set(int owner, String key, byte[] value) {
        checkSize(key, value);
        Stored old = store.get(key);
        int moreKeys = old == null || old.owner() != owner ? 1 : 0;
        long oldBytes = old == null || old.owner() != owner ? 0 : key.length() + old.value().length;
        long all = bytes[owner] - oldBytes + key.length() + value.length;
        if (keys[owner] + moreKeys > MAX_KEYS_PER_RANK || all > MAX_BYTES_PER_RANK) {
            throw new CommunicationException("rank " + owner + " wants to keep " + (keys[owner] + moreKeys)
                    + " keys and " + all + " bytes on the control channel; HINT: at most " + MAX_KEYS_PER_RANK + " and "
                    + MAX_BYTES_PER_RANK);
        }
        if (old != null && old.owner() != owner) {
            keys[old.owner()]--;
            bytes[old.owner()] -= key.length() + old.value().length;
        }
        keys[owner] += moreKeys;
        bytes[owner] = all;
        store.put(key, new Stored(owner, value.clone()));
        notifyAll();
    }

    /** Refuses keys and values that are too long. */
    static void checkSize(String key, byte[] value) {
        if (key.length() > MAX_KEY_CHARS || value.length > MAX_VALUE_BYTES) {
            throw new CommunicationException("a key of " + key.length() + " characters with a value of " + value.length
                    + " bytes for the control channel; HINT: at most " + MAX_KEY_CHARS + " and " + MAX_VALUE_BYTES);
        }
    }

    @Override
    public synchronized Optional<byte[]> get(String key) {
        Stored found = store.get(key);
        return found == null ? Optional.empty() : Optional.of(found.value().clone());
    }

    @Override
    public synchronized byte[] await(String key, long timeoutMs) {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMs);
        try {
            while (true) {
                Stored found = store.get(key);
                if (found != null) {
                    return found.value().clone();
                }
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
    }

    /** Keeps a rank's latest progress. */
    synchronized void beat(int rank, byte[] status) {
        beats.put(rank, new Beat(status, System.nanoTime()));
    }

    /** A rank's latest progress; null before the first. */
    synchronized @Nullable BeatSeen seen(int rank) {
        Beat beat = beats.get(rank);
        return beat == null ? null : new BeatSeen(beat.status(), (System.nanoTime() - beat.atNanos()) / 1_000_000);
    }

    /**
     * A rank's progress and how old it is.
     *
     * @param status the progress
     * @param ageMs its age by the board's clock
     */
    @SuppressWarnings("ArrayRecordComponent")
    record BeatSeen(byte[] status, long ageMs) {}

    /** Has the ranks' posts on a topic passed to a handler; posts on topics that nobody handles are dropped. */
    public void handle(String topic, PostHandler handler) {
        handlers.put(topic, handler);
    }

    /** Passes a post to its handler. */
    void post(int rank, String topic, byte[] words) {
        PostHandler handler = handlers.get(topic);
        if (handler == null) {
            LOG.debug("control channel: rank {} has posted on '{}', which nobody handles", rank, topic);
            return;
        }
        handler.posted(rank, words);
    }

    /**
     * Lets all ranks know something: each finds it in its {@link ControlChannel#notices}. Beyond 100,000 notices or 32 MiB it is
     * dropped.
     */
    public synchronized void announce(String topic, byte[] content) {
        if (content.length > MAX_NOTICE_BYTES || topic.length() > MAX_KEY_CHARS) {
            throw new IllegalArgumentException("a notice of " + content.length + " bytes");
        }
        boolean fits = notices.size() < MAX_NOTICES && noticeBytes + content.length <= MAX_ALL_NOTICE_BYTES;
        if (fits || topic.equals(ENDED)) { // at most one for each rank
            noticeBytes += content.length;
            notices.add(new Notice(notices.size() + 1L, topic, content.clone()));
            notifyAll();
        }
    }

    /** The notices after the one with a number, oldest first, as many as fit in about {@code maxBytes}. */
    synchronized List<Notice> noticesAfter(long number, int maxBytes) {
        List<Notice> found = new ArrayList<>();
        int size = 0;
        for (int i = (int) Math.max(0, Math.min(number, notices.size())); i < notices.size() && size < maxBytes; i++) {
            Notice notice = notices.get(i);
            found.add(notice);
            size += notice.content().length + notice.topic().length() + 32;
        }
        return found;
    }

    synchronized long lastNotice() {
        return notices.size();
    }

    /** Lets all ranks know how a rank has ended; only the first end of a rank counts. */
    public synchronized void ended(RankEnd end) {
        if (ends.putIfAbsent(end.rank(), end) == null) {
            announce(ENDED, encode(end));
        }
    }

    /** How a rank has ended; null if it has not. */
    synchronized @Nullable RankEnd end(int rank) {
        return ends.get(rank);
    }

    static byte[] encode(RankEnd end) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        byte[] detail = ForeignText.escape(end.detail()).getBytes(StandardCharsets.UTF_8);
        byte[] last = end.last().toBytes();
        int room = MAX_NOTICE_BYTES - 64 - detail.length;
        ByteBuffer head = ByteBuffer.allocate(9).putInt(end.rank());
        head.put((byte) end.kind().ordinal()).putInt(detail.length);
        out.writeBytes(head.array());
        out.writeBytes(detail);
        out.write(last, 0, Math.min(last.length, room));
        return out.toByteArray();
    }

    /** What {@link #encode} has written. */
    static RankEnd decodeEnd(byte[] content) {
        ByteBuffer in = ByteBuffer.wrap(content);
        int rank = in.getInt();
        RankEnd.Kind kind = RankEnd.Kind.values()[in.get()];
        byte[] detail = new byte[Math.min(in.getInt(), in.remaining())];
        in.get(detail);
        byte[] last = new byte[in.remaining()];
        in.get(last);
        return new RankEnd(
                rank, kind, ForeignText.escape(new String(detail, StandardCharsets.UTF_8)), RankStatus.read(last));
    }
}
