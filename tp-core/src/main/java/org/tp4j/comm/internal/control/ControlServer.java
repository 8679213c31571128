package org.tp4j.comm.internal.control;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.security.SecureRandom;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tp4j.comm.CommunicationException;

/**
 * The server of the control channel, on rank 0: a small key-value store over TCP, independent of the engine that moves the
 * data, so that it works when the engine is stuck. It holds what ranks need to find each other, and their heartbeats.
 *
 * <p>A client gets a random challenge and must answer it with the job's {@link ControlSecret}. All sizes read from a
 * connection are limited.
 */
public final class ControlServer implements AutoCloseable {
    static final byte SET = 1;
    static final byte GET = 2;
    static final byte LIST = 3;
    /** Length of the challenge that a client must answer. */
    public static final int CHALLENGE_BYTES = 16;

    static final int ANSWER_BYTES = 32;
    static final int MAX_VALUE_BYTES = 1 << 20;

    private static final Logger LOG = LoggerFactory.getLogger(ControlServer.class);
    private static final int GREETING_MS = 5_000;
    private static final int MAX_KEYS = 100_000;

    private final ServerSocket listener;
    private final ControlSecret secret;
    private final SecureRandom random = new SecureRandom();
    private final Map<String, Stored> store = new TreeMap<>();
    private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();

    private record Stored(byte[] value, long atNanos) {}

    private ControlServer(ServerSocket listener, ControlSecret secret) {
        this.listener = listener;
        this.secret = secret;
    }

    /**
     * Starts serving.
     *
     * @param address address to listen on; the loopback address unless ranks are on several machines
     * @param port the port, or 0 for any free port
     * @throws CommunicationException if it cannot listen there
     */
    public static ControlServer start(InetAddress address, int port, ControlSecret secret) {
        ServerSocket listener;
        try {
            listener = new ServerSocket(port, 256, address);
        } catch (IOException e) {
            throw new CommunicationException(
                    "the control channel cannot listen on " + address + " port " + port + ": " + e.getMessage()
                            + "; HINT: choose another port with MASTER_PORT",
                    e);
        }
        ControlServer server = new ControlServer(listener, secret);
        server.spawn("tp4j-control", server::accept);
        return server;
    }

    /** The port it listens on. */
    public int port() {
        return listener.getLocalPort();
    }

    @Override
    public void close() {
        closeQuietly(listener);
        sockets.forEach(ControlServer::closeQuietly);
    }

    private void spawn(String name, Runnable body) {
        Thread thread = new Thread(body, name);
        thread.setDaemon(true);
        thread.start();
    }

    private void accept() {
        while (!listener.isClosed()) {
            try {
                Socket socket = listener.accept();
                sockets.add(socket);
                if (listener.isClosed()) { // accepted while the listener was being closed
                    closeQuietly(socket);
                    return;
                }
                spawn("tp4j-control-client", () -> serve(socket));
            } catch (IOException e) {
                if (!listener.isClosed()) {
                    LOG.warn("control channel: {}", e.toString());
                }
            }
        }
    }

    private void serve(Socket socket) {
        try (socket) {
            socket.setTcpNoDelay(true);
            socket.setSoTimeout(GREETING_MS);
            DataInputStream in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
            DataOutputStream out = new DataOutputStream(new BufferedOutputStream(socket.getOutputStream()));
            byte[] challenge = new byte[CHALLENGE_BYTES];
            random.nextBytes(challenge);
            out.write(challenge);
            out.flush();
            byte[] answer = new byte[ANSWER_BYTES];
            in.readFully(answer);
            if (!secret.accepts(challenge, answer)) {
                LOG.warn("control channel: {} does not know the job's secret", socket.getRemoteSocketAddress());
                return;
            }
            socket.setSoTimeout(0);
            out.writeByte(1);
            out.flush();
            while (true) {
                request(in, out);
                out.flush();
            }
        } catch (IOException e) {
            LOG.debug("control channel: connection ended: {}", e.toString());
        } finally {
            sockets.remove(socket);
        }
    }

    private void request(DataInputStream in, DataOutputStream out) throws IOException {
        byte kind = in.readByte();
        String key = in.readUTF();
        switch (kind) {
            case SET -> {
                int length = in.readInt();
                if (length < 0 || length > MAX_VALUE_BYTES) {
                    throw new IOException("a value of " + length + " bytes");
                }
                byte[] value = new byte[length];
                in.readFully(value);
                set(key, value);
                out.writeByte(1);
            }
            case GET -> {
                Stored found = get(key);
                out.writeInt(found == null ? -1 : found.value().length);
                if (found != null) {
                    out.write(found.value());
                }
            }
            case LIST -> {
                List<Map.Entry<String, Stored>> found = list(key);
                long now = System.nanoTime();
                out.writeInt(found.size());
                for (Map.Entry<String, Stored> entry : found) {
                    out.writeUTF(entry.getKey());
                    out.writeLong((now - entry.getValue().atNanos()) / 1_000_000);
                    out.writeInt(entry.getValue().value().length);
                    out.write(entry.getValue().value());
                }
            }
            default -> throw new IOException("unknown request " + kind);
        }
    }

    private synchronized void set(String key, byte[] value) throws IOException {
        if (store.size() >= MAX_KEYS && !store.containsKey(key)) {
            throw new IOException("more than " + MAX_KEYS + " keys");
        }
        store.put(key, new Stored(value, System.nanoTime()));
    }

    private synchronized @Nullable Stored get(String key) {
        return store.get(key);
    }

    private synchronized List<Map.Entry<String, Stored>> list(String prefix) {
        return store.entrySet().stream()
                .filter(e -> e.getKey().startsWith(prefix))
                .map(e -> Map.entry(e.getKey(), e.getValue()))
                .toList();
    }

    private static void closeQuietly(AutoCloseable resource) {
        try {
            resource.close();
        } catch (Exception e) {
            LOG.debug("control channel: closing: {}", e.toString());
        }
    }
}
