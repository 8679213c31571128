package org.tp4j.comm.internal.control;

import java.io.DataInputStream;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.security.SecureRandom;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.tp4j.comm.CommunicationException;

/**
 * A rank's connection to the {@link ControlServer}. Requests are made one at a time. A connection that breaks is opened again,
 * and the request repeated under its number: neither that nor a pause of either process makes a difference, unless nobody
 * listens at rank 0 any more.
 */
final class ControlClient implements AutoCloseable {
    private static final long FIRST_PAUSE_MS = 10;
    private static final long LONGEST_PAUSE_MS = 200;
    private static final int CONNECT_MS = 5_000;
    private static final long GREETING_MS = 10_000;
    private static final long READ_SLICE_MS = 30_000; // a connection that is silent for so long is opened again

    private final String host;
    private final int port;
    private final ControlSecret secret;
    private final int rank;
    private final SecureRandom random = new SecureRandom();
    private final long id = random.nextLong() | 1;
    private final ReentrantLock lock = new ReentrantLock();
    private @Nullable SecureConnection connection;
    private long number;
    private volatile @Nullable Socket current;
    private volatile @Nullable String gone;
    private volatile boolean closed;

    /** The answer to a request. */
    interface Reader<R> {
        R read(DataInputStream in) throws IOException;
    }

    private ControlClient(String host, int port, ControlSecret secret, int rank) {
        this.host = host;
        this.port = port;
        this.secret = secret;
        this.rank = rank;
    }

    /**
     * Connects, retrying until the server answers or the time is up.
     *
     * @throws CommunicationException if it does not answer in time, or either end has another secret
     */
    static ControlClient connect(String host, int port, ControlSecret secret, int rank, long timeoutMs) {
        ControlClient client = new ControlClient(host, port, secret, rank);
        long deadline = SecureConnection.deadline(timeoutMs);
        client.lock.lock();
        try {
            client.connection = client.open(deadline, Long.MAX_VALUE);
            return client;
        } catch (IOException e) {
            throw new CommunicationException(
                    "no control channel at " + client.server() + " within " + timeoutMs + " ms: " + e.getMessage()
                            + "; HINT: rank 0 serves it; check that rank 0 runs, and that MASTER_ADDR and MASTER_PORT name"
                            + " its machine and port; the address must be one that the other machines reach, not one of"
                            + " 127.0.0.0/8",
                    e);
        } finally {
            client.lock.unlock();
        }
    }

    private String server() {
        return host + ":" + port;
    }

    /** Why there is nobody to talk to any more; null while there is. */
    @Nullable String gone() {
        return gone;
    }

    /**
     * Makes a request.
     *
     * @throws CommunicationException if it is refused, rank 0 is gone, or does not answer in time
     */
    <R> R request(byte kind, Wire.Body body, long timeoutMs, Reader<R> reader) {
        long deadline = SecureConnection.deadline(timeoutMs);
        checkReachable();
        try {
            if (!lock.tryLock(timeoutMs, TimeUnit.MILLISECONDS)) {
                throw silent(timeoutMs);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CommunicationException("interrupted while waiting for the control channel", e);
        }
        try {
            checkReachable();
            byte[] request = Wire.message(kind, ++number, body);
            byte[] answer = exchange(request, deadline);
            DataInputStream in = Wire.reader(answer);
            byte status = in.readByte();
            in.readLong();
            if (status != Wire.OK) {
                throw new CommunicationException(ForeignText.escape(in.readUTF()));
            }
            return reader.read(in);
        } catch (SocketTimeoutException e) {
            throw silent(timeoutMs);
        } catch (IOException e) {
            throw new CommunicationException("the control channel at " + server() + ": " + e.getMessage(), e);
        } finally {
            lock.unlock();
        }
    }

    private void checkReachable() {
        String why = gone;
        if (why != null) {
            throw new CommunicationException("the control channel at " + server() + ": " + why);
        }
    }

    private CommunicationException silent(long timeoutMs) {
        return new CommunicationException("rank 0, which serves the control channel at " + server()
                + ", has not answered for " + timeoutMs + " ms");
    }

    private byte[] exchange(byte[] request, long deadline) throws IOException {
        for (long pauseMs = 0; ; pauseMs = Math.min(LONGEST_PAUSE_MS, 2 * pauseMs + FIRST_PAUSE_MS)) {
            pause(pauseMs);
            SecureConnection open = connection;
            try {
                if (open == null) {
                    open = open(deadline, RankSession.LOST_MS);
                    connection = open;
                }
                open.write(request);
                return readAnswer(open, deadline);
            } catch (SocketTimeoutException e) {
                if (SecureConnection.deadline(0) >= deadline) {
                    throw e; // the connection may be fine; a late answer is skipped by its number
                }
                drop();
            } catch (IOException e) {
                drop();
                if (closed || gone != null || SecureConnection.deadline(0) >= deadline) {
                    throw e;
                }
            }
        }
    }

    private byte[] readAnswer(SecureConnection open, long deadline) throws IOException {
        while (true) {
            long leftMs = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
            byte[] answer = open.read(Math.max(1, Math.min(READ_SLICE_MS, leftMs)));
            DataInputStream in = Wire.reader(answer);
            in.readByte();
            if (in.readLong() == number) {
                return answer;
            }
        }
    }

    private void drop() {
        if (connection != null) {
            connection.close();
            connection = null;
        }
    }

    /**
     * Opens a connection, retrying.
     *
     * @param refusedMs after being refused for so long, rank 0 counts as gone
     */
    private SecureConnection open(long deadline, long refusedMs) throws IOException {
        long pauseMs = FIRST_PAUSE_MS;
        long start = System.nanoTime();
        while (true) {
            Socket socket = new Socket();
            current = socket;
            try {
                if (closed) {
                    throw new IOException("closed");
                }
                socket.connect(new InetSocketAddress(host, port), CONNECT_MS);
                SecureConnection opened = SecureConnection.open(socket, secret, random, GREETING_MS);
                greet(opened);
                return opened;
            } catch (SecureConnection.WrongSecretException e) {
                SecureConnection.closeQuietly(socket);
                throw new CommunicationException(
                        "the control channel at " + server() + ": " + e.getMessage()
                                + "; HINT: give each job its own MASTER_PORT, and all its ranks the same TP4J_SECRET",
                        e);
            } catch (IOException e) {
                SecureConnection.closeQuietly(socket);
                boolean refused = e instanceof ConnectException;
                long elapsedMs = (System.nanoTime() - start) / 1_000_000;
                if (closed || (refused && elapsedMs > refusedMs)) {
                    gone = "nobody listens at " + server() + " any more: " + e.getMessage();
                    throw e;
                }
                if (System.nanoTime() > deadline) {
                    throw new SocketTimeoutException(e.getMessage());
                }
            }
            pause(pauseMs);
            pauseMs = Math.min(LONGEST_PAUSE_MS, 2 * pauseMs);
        }
    }

    private void greet(SecureConnection opened) throws IOException {
        opened.write(Wire.message(Wire.HELLO, id, out -> {
            out.writeInt(rank);
            Peer.writeSelf(out);
        }));
        DataInputStream in = Wire.reader(opened.read(GREETING_MS));
        if (in.readByte() != Wire.OK) {
            in.readLong();
            String reason = ForeignText.escape(in.readUTF());
            opened.close();
            gone = reason;
            throw new CommunicationException(
                    "the control channel at " + server() + " refuses rank " + rank + ": " + reason);
        }
    }

    private static void pause(long ms) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CommunicationException("interrupted while waiting for the control channel", e);
        }
    }

    Optional<byte[]> get(String key, long timeoutMs) {
        return request(
                Wire.GET,
                out -> out.writeUTF(key),
                timeoutMs,
                in -> in.readBoolean() ? Optional.of(Wire.readBytes(in)) : Optional.<byte[]>empty());
    }

    /** Breaks the connection, as a network may; for tests. */
    void breakConnection() {
        Socket socket = current;
        if (socket != null) {
            SecureConnection.closeQuietly(socket);
        }
    }

    @Override
    public void close() {
        closed = true;
        breakConnection();
    }
}
