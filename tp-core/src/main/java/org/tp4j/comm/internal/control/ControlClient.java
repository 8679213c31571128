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

/** A rank's connection to the {@link ControlServer}. Safe for several threads, which take turns. */
public final class ControlClient implements KeyValueStore, AutoCloseable {
    private static final int POLL_MS = 20;
    private static final int ANSWER_MS = 5_000; // a server that is alive answers within microseconds

    private final Socket socket;
    private final DataInputStream in;
    private final DataOutputStream out;
    private final String server;

    /**
     * What is stored under a key.
     *
     * @param key the key
     * @param ageMs how long ago it was set, by the server's clock
     * @param value the value
     */
    @SuppressWarnings("ArrayRecordComponent") // a message of the channel, made and read once
    public record Entry(String key, long ageMs, byte[] value) {}

    private ControlClient(Socket socket, DataInputStream in, DataOutputStream out, String server) {
        this.socket = socket;
        this.in = in;
        this.out = out;
        this.server = server;
    }

    /**
     * Connects; tries again until the server is there or the time is up.
     *
     * @throws CommunicationException if it is not there in time, or refuses the secret
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
                    throw new CommunicationException(
                            "the control channel at " + server + " refuses this process: it has another job's secret");
                }
                return new ControlClient(socket, in, out, server);
            } catch (IOException e) {
                quietly(socket);
                if (System.nanoTime() > deadline) {
                    throw new CommunicationException(
                            "no control channel at " + server + " within " + timeoutMs + " ms: " + e.getMessage()
                                    + "; HINT: rank 0 serves it; see that MASTER_ADDR and MASTER_PORT name its machine",
                            e);
                }
                sleep(POLL_MS);
            } catch (CommunicationException e) {
                quietly(socket);
                throw e;
            }
        }
    }

    @Override
    public synchronized void set(String key, byte[] value) {
        if (value.length > ControlServer.MAX_VALUE_BYTES) {
            throw new IllegalArgumentException("a value of " + value.length + " bytes for the control channel");
        }
        try {
            out.writeByte(ControlServer.SET);
            out.writeUTF(key);
            out.writeInt(value.length);
            out.write(value);
            out.flush();
            in.readByte();
        } catch (IOException e) {
            throw gone(e);
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
            throw gone(e);
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
                throw new CommunicationException("nobody has set '" + key + "' on the control channel at " + server
                        + " within " + timeoutMs + " ms");
            }
            sleep(POLL_MS);
        }
    }

    /** All keys that begin with a prefix, in order. */
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
            throw gone(e);
        }
    }

    @Override
    public void close() {
        quietly(socket);
    }

    private byte[] read(int length) throws IOException {
        if (length < 0 || length > ControlServer.MAX_VALUE_BYTES) {
            throw new IOException("a value of " + length + " bytes");
        }
        byte[] value = new byte[length];
        in.readFully(value);
        return value;
    }

    /** After half an answer the stream cannot be used any more. */
    private CommunicationException gone(IOException e) {
        quietly(socket);
        return new CommunicationException(
                "the control channel at " + server + " (rank 0) does not answer: " + e.getMessage(), e);
    }

    private static void quietly(Socket socket) {
        try {
            socket.close();
        } catch (IOException e) {
            // it is of no use any more either way
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
