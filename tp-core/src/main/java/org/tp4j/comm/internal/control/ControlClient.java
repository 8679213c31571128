package org.tp4j.comm.internal.control;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.tp4j.comm.CommunicationException;
import org.tp4j.comm.engine.KeyValueStore;

/** A rank's connection to the {@link ControlServer}. Thread-safe: requests are made one at a time. */
public final class ControlClient implements KeyValueStore, AutoCloseable {
    private static final int POLL_MS = 20;
    private static final int ANSWER_MS = 5_000; // a live server answers within microseconds

    private final Socket socket;
    private final DataInputStream in;
    private final DataOutputStream out;
    private final String server;

    /**
     * A stored value.
     *
     * @param key the key
     * @param ageMs how long ago it was set, by the server's clock
     * @param value the value
     */
    @SuppressWarnings("ArrayRecordComponent") // created and read once
    public record Entry(String key, long ageMs, byte[] value) {}

    private ControlClient(Socket socket, DataInputStream in, DataOutputStream out, String server) {
        this.socket = socket;
        this.in = in;
        this.out = out;
        this.server = server;
    }

    /**
     * Connects, retrying until the server answers or the time is up.
     *
     * @throws CommunicationException if it does not answer in time, or refuses the secret
     */
    public static ControlClient connect(String host, int port, ControlSecret secret, long timeoutMs) {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMs);
        String server = host + ":" + port;
        while (true) {
            Socket socket = new Socket();
            try {
                socket.connect(new InetSocketAddress(host, port), ANSWER_MS);
                socket.setTcpNoDelay(true);
                socket.setSoTimeout(ANSWER_MS);
                DataInputStream in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
                DataOutputStream out = new DataOutputStream(new BufferedOutputStream(socket.getOutputStream()));
                byte[] challenge = new byte[ControlServer.CHALLENGE_BYTES];
                in.readFully(challenge);
                out.write(secret.answer(challenge));
                out.flush();
                if (in.read() != 1) {
                    throw new CommunicationException("the control channel at " + server
                            + " refuses this process: it has another job's secret; HINT: give each job its own"
                            + " MASTER_PORT, and all its ranks the same TP4J_SECRET");
                }
                return new ControlClient(socket, in, out, server);
            } catch (IOException e) {
                closeQuietly(socket);
                if (System.nanoTime() > deadline) {
                    throw new CommunicationException(
                            "no control channel at " + server + " within " + timeoutMs + " ms: " + e.getMessage()
                                    + "; HINT: rank 0 serves it; check that rank 0 runs, and that MASTER_ADDR and MASTER_PORT name its"
                                    + " machine and port",
                            e);
                }
                sleep(POLL_MS);
            } catch (CommunicationException e) {
                closeQuietly(socket);
                throw e;
            }
        }
    }

    @Override
    public synchronized void set(String key, byte[] value) {
        if (value.length > ControlServer.MAX_VALUE_BYTES) {
            throw new IllegalArgumentException("a value of " + value.length
                    + " bytes for the control channel, which takes at most " + ControlServer.MAX_VALUE_BYTES);
        }
        try {
            out.writeByte(ControlServer.SET);
            out.writeUTF(key);
            out.writeInt(value.length);
            out.write(value);
            out.flush();
            in.readByte();
        } catch (IOException e) {
            throw lost(e);
        }
    }

    @Override
    public synchronized Optional<byte[]> get(String key) {
        try {
            out.writeByte(ControlServer.GET);
            out.writeUTF(key);
            out.flush();
            int length = in.readInt();
            return length < 0 ? Optional.empty() : Optional.of(read(length));
        } catch (IOException e) {
            throw lost(e);
        }
    }

    @Override
    public byte[] await(String key, long timeoutMs) {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMs);
        while (true) {
            Optional<byte[]> value = get(key);
            if (value.isPresent()) {
                return value.get();
            }
            if (System.nanoTime() > deadline) {
                throw new CommunicationException("no rank has set '" + key + "' on the control channel at " + server
                        + " within " + timeoutMs + " ms");
            }
            sleep(POLL_MS);
        }
    }

    /** All entries whose keys start with a prefix, in order of their keys. */
    public synchronized List<Entry> list(String prefix) {
        try {
            out.writeByte(ControlServer.LIST);
            out.writeUTF(prefix);
            out.flush();
            int count = in.readInt();
            List<Entry> entries = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                String key = in.readUTF();
                long ageMs = in.readLong();
                entries.add(new Entry(key, ageMs, read(in.readInt())));
            }
            return entries;
        } catch (IOException e) {
            throw lost(e);
        }
    }

    @Override
    public void close() {
        closeQuietly(socket);
    }

    private byte[] read(int length) throws IOException {
        if (length < 0 || length > ControlServer.MAX_VALUE_BYTES) {
            throw new IOException("a value of " + length + " bytes");
        }
        byte[] value = new byte[length];
        in.readFully(value);
        return value;
    }

    /** The connection is closed: after part of an answer it cannot be used any more. */
    private CommunicationException lost(IOException e) {
        closeQuietly(socket);
        return new CommunicationException(
                "the control channel at " + server + " (rank 0) does not answer: " + e.getMessage(), e);
    }

    private static void closeQuietly(Socket socket) {
        try {
            socket.close();
        } catch (IOException e) {
            // it is not used any more either way
        }
    }

    private static void sleep(long ms) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CommunicationException("interrupted while waiting for the control channel", e);
        }
    }
}
