package org.tp4j.comm.internal.control;

import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.security.SecureRandom;
import java.util.LinkedHashSet;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tp4j.comm.CommunicationException;

/**
 * The server of the control channel, on rank 0: the job's {@link ControlBoard} over TCP, independent of the engine that moves
 * the data, so that it works when the engine is stuck.
 *
 * <p>It treats the network as hostile. Clients prove that they know the job's secret, and frames that were made by others end
 * the connection ({@link SecureConnection}). Connections that have not proved it are few, and short; all sizes are limited,
 * and what comes from the network is escaped before it is logged.
 */
public final class ControlServer implements AutoCloseable {
    /** Connections that have not proved themselves; the oldest makes room for another one. */
    static final int MAX_STRANGERS = 64;

    /** How long a connection may take to prove itself. */
    static final int GREETING_MS = 5_000;

    private static final Logger LOG = LoggerFactory.getLogger(ControlServer.class);
    private static final long SHORTEST_PAUSE_MS = 10;
    private static final long LONGEST_PAUSE_MS = 1_000;
    private static final long LOG_PERIOD_NANOS = 60_000_000_000L;

    private final ServerSocket listener;
    private final ControlSecret secret;
    private final ControlBoard board;
    private final RankSession[] sessions;
    private final SecureRandom random = new SecureRandom();
    private final Set<Socket> strangers = new LinkedHashSet<>(); // oldest first
    private final Thread acceptor;
    private long loggedNanos = System.nanoTime() - LOG_PERIOD_NANOS;
    private long unlogged;

    private ControlServer(ServerSocket listener, ControlSecret secret, ControlBoard board) {
        this.listener = listener;
        this.secret = secret;
        this.board = board;
        this.sessions = new RankSession[board.ranks()];
        for (int rank = 0; rank < sessions.length; rank++) {
            sessions[rank] = new RankSession(board, rank);
        }
        this.acceptor = new Thread(this::accept, "tp4j-control");
        acceptor.setDaemon(true);
    }

    /**
     * Starts serving.
     *
     * @param address the address to listen on, and no other; the loopback address unless ranks are on several machines
     * @param port the port, or 0 for any free port
     * @throws CommunicationException if it cannot listen there
     */
    public static ControlServer start(InetAddress address, int port, ControlSecret secret, ControlBoard board) {
        ServerSocket listener;
        try {
            listener = new ServerSocket(port, 256, address);
        } catch (IOException e) {
            throw new CommunicationException(
                    "the control channel cannot listen on " + address.getHostAddress() + " port " + port + ": "
                            + e.getMessage()
                            + "; HINT: MASTER_ADDR must be an address of rank 0's machine, and MASTER_PORT free there",
                    e);
        }
        return start(listener, secret, board);
    }

    /** Starts serving what connects to a listener. */
    static ControlServer start(ServerSocket listener, ControlSecret secret, ControlBoard board) {
        ControlServer server = new ControlServer(listener, secret, board);
        server.acceptor.start();
        return server;
    }

    /** The port it listens on. */
    public int port() {
        return listener.getLocalPort();
    }

    /** What it serves. */
    public ControlBoard board() {
        return board;
    }

    /**
     * Waits until every rank that is connected knows all notices, for instance that rank 0 has failed.
     *
     * @return false if the time was up first
     */
    public boolean awaitNoticesRead(long timeoutMs) {
        return await(timeoutMs, session -> session.hasRead(board.lastNotice()));
    }

    /**
     * Waits until no rank is connected any more.
     *
     * @return false if the time was up first
     */
    public boolean awaitDepartures(long timeoutMs) {
        return await(timeoutMs, session -> false);
    }

    private boolean await(long timeoutMs, java.util.function.Predicate<RankSession> satisfied) {
        long deadline = SecureConnection.deadline(timeoutMs);
        try {
            for (RankSession session : sessions) {
                while (session.isConnected() && !satisfied.test(session)) {
                    if (System.nanoTime() > deadline) {
                        return false;
                    }
                    Thread.sleep(5);
                }
            }
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    @Override
    public void close() {
        SecureConnection.closeQuietly(listener);
        synchronized (strangers) {
            strangers.forEach(SecureConnection::closeQuietly);
        }
        for (RankSession session : sessions) {
            session.close();
        }
    }

    private void accept() {
        long pauseMs = SHORTEST_PAUSE_MS;
        while (!listener.isClosed()) {
            try {
                Socket socket = listener.accept();
                pauseMs = SHORTEST_PAUSE_MS;
                admit(socket);
            } catch (IOException | OutOfMemoryError e) { // out of descriptors, or of threads: it may pass
                if (listener.isClosed()) {
                    return;
                }
                warn("cannot accept a connection: " + e.getMessage());
                try {
                    Thread.sleep(pauseMs);
                } catch (InterruptedException interrupted) {
                    return;
                }
                pauseMs = Math.min(LONGEST_PAUSE_MS, 2 * pauseMs);
            }
        }
    }

    private void admit(Socket socket) {
        synchronized (strangers) {
            if (listener.isClosed()) { // accepted while the listener was being closed
                SecureConnection.closeQuietly(socket);
                return;
            }
            if (strangers.size() >= MAX_STRANGERS) {
                Socket oldest = strangers.iterator().next();
                strangers.remove(oldest);
                SecureConnection.closeQuietly(oldest);
            }
            strangers.add(socket);
        }
        Thread thread = new Thread(() -> serve(socket), "tp4j-control-client");
        thread.setDaemon(true);
        try {
            thread.start();
        } catch (OutOfMemoryError e) {
            forget(socket);
            SecureConnection.closeQuietly(socket);
            throw e;
        }
    }

    private void forget(Socket socket) {
        synchronized (strangers) {
            strangers.remove(socket);
        }
    }

    private void serve(Socket socket) {
        try (socket) {
            SecureConnection connection = SecureConnection.accept(socket, secret, random, GREETING_MS);
            DataInputStream hello = Wire.reader(connection.read(GREETING_MS));
            byte kind = hello.readByte();
            long id = hello.readLong();
            int rank = hello.readInt();
            if (kind != Wire.HELLO || rank < 0 || rank >= sessions.length) {
                refuse(
                        connection,
                        "rank " + rank + " of a job of " + sessions.length + (sessions.length == 1 ? " rank" : " ranks")
                                + "; HINT: check RANK and WORLD_SIZE");
                return;
            }
            forget(socket);
            sessions[rank].serve(connection, id, Peer.read(hello, socket));
        } catch (SecureConnection.WrongSecretException e) {
            warn(socket.getRemoteSocketAddress() + ": " + e.getMessage());
        } catch (IOException | RuntimeException e) {
            LOG.debug("control channel: a connection has ended: {}", ForeignText.escape(e.toString()));
        } finally {
            forget(socket);
        }
    }

    static void refuse(SecureConnection connection, String reason) throws IOException {
        connection.write(Wire.message(Wire.REFUSED, 0, out -> out.writeUTF(reason)));
    }

    /** At most once a minute: whoever can reach the port must not be able to fill the log. */
    private synchronized void warn(String text) {
        long now = System.nanoTime();
        if (now - loggedNanos < LOG_PERIOD_NANOS) {
            unlogged++;
            return;
        }
        loggedNanos = now;
        LOG.warn(
                "control channel: {}{}",
                ForeignText.escape(text),
                unlogged == 0 ? "" : " (and " + unlogged + " such events before it)");
        unlogged = 0;
    }
}
