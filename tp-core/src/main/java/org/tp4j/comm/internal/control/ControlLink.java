package org.tp4j.comm.internal.control;

import java.io.DataInputStream;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import org.tp4j.comm.CommunicationException;
import org.tp4j.comm.record.FlightRecorder;

/**
 * A rank's part of the control channel: a heartbeat that carries its progress and its posts to rank 0, and brings back what
 * was announced.
 */
public final class ControlLink implements ControlChannel, RankWatch, AutoCloseable {
    private static final int POLL_MS = 20;
    private static final long REQUEST_MS = 10_000;
    private static final long BEAT_MS = 60_000; // the server may be paused for so long
    private static final long SEEN_MS = 2_000;
    private static final int BATCH_BYTES = 1 << 18;
    private static final int EAGER_BYTES = 1 << 15; // sent before the next beat is due
    private static final int MAX_POST_BYTES = 1 << 16;
    private static final long MAX_QUEUED_BYTES = 16L << 20;

    private final ControlClient client;
    private final FlightRecorder recorder;
    private final long periodMs;
    private final Thread thread;
    private final RankEnds ends = new RankEnds();
    private final Map<String, List<byte[]>> notices = new ConcurrentHashMap<>();
    private final Deque<Post> queue = new ArrayDeque<>(); // guarded by itself, with the fields below
    private long queuedBytes;
    private long posted;
    private long sent;
    private long beatsWanted;
    private long beats;
    private boolean urgent;
    private long knownNotice; // of the heartbeat
    private volatile boolean closed;

    @SuppressWarnings("ArrayRecordComponent")
    private record Post(String topic, byte[] words) {
        int bytes() {
            return words.length + topic.length() + 32;
        }
    }

    private ControlLink(ControlClient client, FlightRecorder recorder, long periodMs) {
        this.client = client;
        this.recorder = recorder;
        this.periodMs = periodMs;
        this.thread = new Thread(this::beatUntilClosed, "tp4j-heartbeat");
        thread.setDaemon(true);
    }

    /**
     * Joins the control channel at an address as the rank whose calls {@code recorder} keeps.
     *
     * @param timeoutMs how long the server may take to start
     * @throws CommunicationException if it does not answer in time, or either end has another secret
     */
    public static ControlLink connect(
            String host, int port, ControlSecret secret, FlightRecorder recorder, long periodMs, long timeoutMs) {
        ControlClient client = ControlClient.connect(host, port, secret, recorder.worldRank(), timeoutMs);
        ControlLink link = new ControlLink(client, recorder, periodMs);
        link.thread.start();
        return link;
    }

    /** How often ranks report their progress, for a timeout. */
    public static long periodMs(long timeoutMs) {
        return Math.max(50, Math.min(250, timeoutMs / 8));
    }

    @Override
    public void set(String key, byte[] value) {
        ControlBoard.checkSize(key, value);
        client.request(
                Wire.SET,
                out -> {
                    out.writeUTF(key);
                    Wire.writeBytes(out, value);
                },
                REQUEST_MS,
                in -> true);
    }

    @Override
    public Optional<byte[]> get(String key) {
        return client.get(key, REQUEST_MS);
    }

    @Override
    public byte[] await(String key, long timeoutMs) {
        long deadline = SecureConnection.deadline(timeoutMs);
        while (true) {
            Optional<byte[]> value = get(key);
            if (value.isPresent()) {
                return value.get();
            }
            if (System.nanoTime() > deadline) {
                throw new CommunicationException(
                        "no rank has set '" + key + "' on the control channel within " + timeoutMs + " ms");
            }
            try {
                Thread.sleep(POLL_MS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new CommunicationException("interrupted while waiting for '" + key + "'", e);
            }
        }
    }

    @Override
    public void post(String topic, byte[] words) {
        if (words.length > MAX_POST_BYTES || topic.length() > ControlBoard.MAX_KEY_CHARS) {
            throw new IllegalArgumentException("a post of " + words.length + " bytes; at most " + MAX_POST_BYTES);
        }
        Post post = new Post(topic, words);
        synchronized (queue) {
            if (queuedBytes > MAX_QUEUED_BYTES) {
                throw new CommunicationException("rank " + recorder.worldRank() + " has posted " + queuedBytes
                        + " bytes that rank 0 has not taken"
                        + (client.gone() == null ? "" : ": " + client.gone()));
            }
            queue.addLast(post);
            posted++;
            queuedBytes += post.bytes();
            if (queuedBytes > EAGER_BYTES && !urgent) {
                urgent = true;
                queue.notifyAll();
            }
        }
    }

    @Override
    public void flush(long timeoutMs) {
        long deadline = SecureConnection.deadline(timeoutMs);
        synchronized (queue) {
            long target = posted;
            long beat = Math.max(beats, beatsWanted) + 1;
            beatsWanted = beat;
            urgent = true;
            queue.notifyAll();
            while (sent < target || beats < beat) {
                long leftMs = (deadline - System.nanoTime()) / 1_000_000;
                if (leftMs <= 0 || client.gone() != null || closed) {
                    throw new CommunicationException("rank 0 has not taken what rank " + recorder.worldRank()
                            + " has posted within " + timeoutMs + " ms"
                            + (client.gone() == null ? "" : ": " + client.gone()));
                }
                try {
                    queue.wait(Math.min(leftMs, POLL_MS));
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                    throw new CommunicationException("interrupted while posting to rank 0", e);
                }
            }
        }
    }

    @Override
    public List<byte[]> notices(String topic) {
        return List.copyOf(notices.getOrDefault(topic, List.of()));
    }

    @Override
    public RankEnds ends() {
        return ends;
    }

    /** Tells the others how this rank has ended; after that they expect nothing of it. */
    public void end(RankEnd.Kind kind, String detail, long timeoutMs) {
        RankEnd end = new RankEnd(recorder.worldRank(), kind, detail, RankStatus.of(recorder));
        client.request(Wire.END, out -> Wire.writeBytes(out, ControlBoard.encode(end)), timeoutMs, in -> true);
    }

    /** Whether nobody serves the control channel any more. */
    boolean isGone() {
        return client.gone() != null;
    }

    @Override
    public @Nullable Seen seen(int rank) {
        Optional<Seen> seen = client.request(Wire.SEEN, out -> out.writeInt(rank), SEEN_MS, in -> {
            long ageMs = in.readLong();
            return in.readBoolean()
                    ? Optional.of(new Seen(RankStatus.read(Wire.readBytes(in)), ageMs))
                    : Optional.<Seen>empty();
        });
        return seen.orElse(null);
    }

    @Override
    public long silentMs() {
        return Math.max(3 * periodMs, 1_000);
    }

    @Override
    public void close() {
        closed = true;
        client.close();
        synchronized (queue) {
            queue.notifyAll();
        }
        if (Thread.currentThread() != thread) {
            try {
                thread.join(REQUEST_MS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Breaks the connection, as a network may; for tests. */
    void breakConnection() {
        client.breakConnection();
    }

    private void beatUntilClosed() {
        while (!closed) {
            boolean more = false;
            try {
                more = beat();
            } catch (CommunicationException e) {
                String why = client.gone();
                if (closed) {
                    return;
                }
                if (why != null) {
                    if (recorder.worldRank() != 0) {
                        String detail = "it served the control channel, and " + why;
                        ends.add(new RankEnd(0, RankEnd.Kind.LOST, detail, RankStatus.unknown()));
                    }
                    return;
                }
            }
            synchronized (queue) {
                urgent = false;
                if (!more && queuedBytes <= EAGER_BYTES && beats >= beatsWanted && !closed) {
                    try {
                        queue.wait(periodMs);
                    } catch (InterruptedException e) {
                        return;
                    }
                }
            }
        }
    }

    /** Sends this rank's progress and a batch of posts, and takes what was announced; whether there may be more. */
    private boolean beat() {
        List<Post> batch = new ArrayList<>();
        long first;
        long number;
        synchronized (queue) {
            first = sent + 1;
            number = Math.max(beats + 1, beatsWanted);
            int bytes = 0;
            for (Post post : queue) {
                if (bytes > BATCH_BYTES) {
                    break;
                }
                batch.add(post);
                bytes += post.bytes();
            }
        }
        byte[] status = RankStatus.of(recorder).toBytes();
        boolean announced = client.request(
                Wire.BEAT,
                out -> {
                    Wire.writeBytes(out, status.length > BATCH_BYTES ? new byte[0] : status);
                    out.writeLong(knownNotice);
                    out.writeLong(first);
                    out.writeInt(batch.size());
                    for (Post post : batch) {
                        out.writeUTF(post.topic());
                        Wire.writeBytes(out, post.words());
                    }
                },
                BEAT_MS,
                this::readNotices);
        synchronized (queue) {
            for (Post post : batch) {
                queue.removeFirst();
                queuedBytes -= post.bytes();
                sent++;
            }
            if (!announced) {
                beats = number;
            }
            queue.notifyAll();
            return announced || sent < posted;
        }
    }

    private boolean readNotices(DataInputStream in) throws IOException {
        int count = in.readInt();
        for (int i = 0; i < count; i++) {
            long number = in.readLong();
            String topic = in.readUTF();
            byte[] content = Wire.readBytes(in);
            if (number == knownNotice + 1) {
                knownNotice = number;
                if (topic.equals(ControlBoard.ENDED)) {
                    ends.add(ControlBoard.decodeEnd(content));
                } else {
                    notices.computeIfAbsent(topic, any -> new CopyOnWriteArrayList<>())
                            .add(content);
                }
            }
        }
        return count > 0;
    }
}
