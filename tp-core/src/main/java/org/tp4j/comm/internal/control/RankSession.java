package org.tp4j.comm.internal.control;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.tp4j.comm.CommunicationException;

/**
 * The server's side of one rank, over all its connections. Requests have numbers, so that one that is repeated over a new
 * connection gets the answer it got before. A rank whose connection ends without a word is lost, if it does not come back.
 */
final class RankSession {
    /** How long a rank whose connection has ended has time to come back; less if its process is known to have ended. */
    static final long LOST_MS = 1_000;

    private static final long IDLE_MS = 120_000; // frees the thread; the rank may be paused, and come back
    private static final int NOTICE_BYTES = 1 << 18;
    private static final long POLL_MS = 10;

    private final ControlBoard board;
    private final int rank;
    private final Object requests = new Object();
    private @Nullable SecureConnection connection;
    private long client; // random, never 0
    private boolean lost;
    private boolean closed;
    private long answered;
    private byte[] answer = new byte[0];
    private volatile long noticesRead;
    private long posted;

    RankSession(ControlBoard board, int rank) {
        this.board = board;
        this.rank = rank;
    }

    synchronized boolean isConnected() {
        return connection != null;
    }

    boolean hasRead(long notice) {
        return noticesRead >= notice;
    }

    /** Serves a connection until it ends. */
    void serve(SecureConnection opened, long id, Peer peer) throws IOException {
        String refusal = join(opened, id);
        if (refusal != null) {
            ControlServer.refuse(opened, refusal);
            return;
        }
        boolean idle = false;
        try {
            opened.write(Wire.message(Wire.OK, 0, out -> {}));
            while (true) {
                opened.write(answer(opened.read(IDLE_MS)));
            }
        } catch (SocketTimeoutException e) {
            idle = true;
        } finally {
            opened.close();
            left(opened, peer, idle);
        }
    }

    private synchronized @Nullable String join(SecureConnection opened, long id) {
        if (client != 0 && client != id) {
            return "rank " + rank + " has joined already, from another process; HINT: check that RANK differs";
        }
        if (lost) {
            return "the other ranks were told that rank " + rank + " is gone: its connection was closed for more than "
                    + LOST_MS + " ms";
        }
        client = id;
        if (connection != null) {
            connection.close();
        }
        connection = opened;
        return null;
    }

    private void left(SecureConnection ended, Peer peer, boolean idle) {
        synchronized (this) {
            if (connection != ended) {
                return; // the rank has come back already
            }
            connection = null;
        }
        if (!idle && board.end(rank) == null) {
            awaitReturn(peer);
        }
    }

    private void awaitReturn(Peer peer) {
        long start = System.nanoTime();
        while (true) {
            boolean dead = peer.isDead();
            double seconds = (System.nanoTime() - start) * 1e-9;
            synchronized (this) {
                if (connection != null || closed) {
                    return;
                }
                if (dead || seconds * 1e3 >= LOST_MS) {
                    lost = true;
                    break;
                }
            }
            try {
                Thread.sleep(POLL_MS);
            } catch (InterruptedException e) {
                return;
            }
        }
        String what = peer.isDead()
                ? "its process " + peer.pid() + " ended without a word, killed or crashed"
                : String.format(
                        Locale.ROOT,
                        "its connection was closed %.1f s ago; the process was killed, has crashed, or is cut off from"
                                + " rank 0",
                        (System.nanoTime() - start) * 1e-9);
        ControlBoard.BeatSeen seen = board.seen(rank);
        RankStatus last = seen == null ? RankStatus.unknown() : RankStatus.read(seen.status());
        board.ended(new RankEnd(rank, RankEnd.Kind.LOST, what, last));
    }

    synchronized void close() {
        closed = true;
        if (connection != null) {
            connection.close();
        }
    }

    private byte[] answer(byte[] request) throws IOException {
        DataInputStream in = Wire.reader(request);
        byte kind = in.readByte();
        long number = in.readLong();
        synchronized (requests) { // a broken connection's last request may still be under way
            if (number == answered) {
                return answer; // asked again after a connection broke
            }
            if (number < answered) {
                throw new IOException("request " + number + " after " + answered);
            }
            try {
                answer = handle(kind, number, in);
            } catch (CommunicationException e) {
                answer = Wire.message(Wire.REFUSED, number, out -> out.writeUTF(String.valueOf(e.getMessage())));
            }
            answered = number;
            return answer;
        }
    }

    private byte[] handle(byte kind, long number, DataInputStream in) throws IOException {
        switch (kind) {
            case Wire.SET -> {
                board.set(rank, Wire.readKey(in), Wire.readBytes(in));
                return ok(number, out -> {});
            }
            case Wire.GET -> {
                Optional<byte[]> found = board.get(Wire.readKey(in));
                return ok(number, out -> writeOptional(out, found.orElse(null)));
            }
            case Wire.SEEN -> {
                int peer = in.readInt();
                ControlBoard.BeatSeen seen = board.seen(peer);
                return ok(number, out -> {
                    out.writeLong(seen == null ? 0 : seen.ageMs());
                    writeOptional(out, seen == null ? null : seen.status());
                });
            }
            case Wire.BEAT -> {
                return beat(number, in);
            }
            case Wire.END -> {
                end(in);
                return ok(number, out -> {});
            }
            default -> throw new IOException("unknown request " + kind);
        }
    }

    private byte[] beat(long number, DataInputStream in) throws IOException {
        byte[] status = Wire.readBytes(in);
        if (status.length > 0) {
            board.beat(rank, status);
        }
        long known = in.readLong();
        noticesRead = Math.max(noticesRead, Math.min(known, board.lastNotice()));
        long first = in.readLong();
        int posts = in.readInt();
        for (int i = 0; i < posts; i++) {
            String topic = Wire.readKey(in);
            byte[] words = Wire.readBytes(in);
            if (first + i == posted + 1) { // others came before, in a beat whose answer was lost
                posted++;
                board.post(rank, topic, words);
            }
        }
        List<ControlBoard.Notice> later = board.noticesAfter(known, NOTICE_BYTES);
        return ok(number, out -> {
            out.writeInt(later.size());
            for (ControlBoard.Notice notice : later) {
                out.writeLong(notice.number());
                out.writeUTF(notice.topic());
                Wire.writeBytes(out, notice.content());
            }
        });
    }

    private void end(DataInputStream in) throws IOException {
        RankEnd end = ControlBoard.decodeEnd(Wire.readBytes(in));
        board.ended(new RankEnd(rank, end.kind(), end.detail(), end.last()));
    }

    private static byte[] ok(long number, Wire.Body body) {
        return Wire.message(Wire.OK, number, body);
    }

    private static void writeOptional(DataOutputStream out, byte @Nullable [] value) throws IOException {
        out.writeBoolean(value != null);
        if (value != null) {
            Wire.writeBytes(out, value);
        }
    }
}
