package org.tp4j.comm.internal.control;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import javax.crypto.Mac;

/**
 * A connection whose ends have proved to each other that they know the job's secret, and whose frames nobody else can make,
 * change, repeat, reorder or leave out.
 *
 * <pre>
 * server → client   magic, nonce s
 * client → server   nonce c, HMAC(secret, "client", s, c)
 * server → client   1, HMAC(secret, "server", c, s); or 0: refused
 * from then on      length, payload, HMAC(key of the direction and of s and c, number of the frame, payload)
 * </pre>
 *
 * <p>Frames are authenticated, not encrypted: whoever sees the network can read them. One thread reads at a time, and one
 * writes.
 */
final class SecureConnection implements AutoCloseable {
    /** The largest payload. */
    static final int MAX_FRAME_BYTES = (1 << 20) + 4096;

    static final byte[] MAGIC = "TP4J/2\r\n".getBytes(StandardCharsets.US_ASCII);
    static final int NONCE_BYTES = 32;
    static final int MAC_BYTES = 32;

    private final Socket socket;
    private final InputStream in;
    private final OutputStream out;
    private final Mac sending;
    private final Mac receiving;
    private final ByteBuffer head = ByteBuffer.allocate(Integer.BYTES);
    private ByteBuffer body = ByteBuffer.allocate(0);
    private long sent;
    private long received;

    /** The other end does not know the secret. */
    static final class WrongSecretException extends IOException {
        private static final long serialVersionUID = 1L;

        WrongSecretException(String message) {
            super(message);
        }
    }

    private SecureConnection(Socket socket, byte[] sendKey, byte[] receiveKey) throws IOException {
        this.socket = socket;
        this.in = socket.getInputStream();
        this.out = socket.getOutputStream();
        this.sending = ControlSecret.mac(sendKey);
        this.receiving = ControlSecret.mac(receiveKey);
    }

    /** The server's end: the client must prove itself within {@code timeoutMs}. */
    static SecureConnection accept(Socket socket, ControlSecret secret, SecureRandom random, long timeoutMs)
            throws IOException {
        long deadline = deadline(timeoutMs);
        socket.setTcpNoDelay(true);
        byte[] mine = nonce(random);
        socket.getOutputStream().write(join(MAGIC, mine));
        byte[] theirs = readFully(socket, NONCE_BYTES, deadline);
        byte[] proof = readFully(socket, MAC_BYTES, deadline);
        if (!MessageDigest.isEqual(secret.derive("client", mine, theirs), proof)) {
            socket.getOutputStream().write(0);
            throw new WrongSecretException("it does not know the job's secret");
        }
        socket.getOutputStream().write(join(new byte[] {1}, secret.derive("server", theirs, mine)));
        return new SecureConnection(
                socket, secret.derive("to client", mine, theirs), secret.derive("to server", mine, theirs));
    }

    /** The client's end: the server must prove itself within {@code timeoutMs}. */
    static SecureConnection open(Socket socket, ControlSecret secret, SecureRandom random, long timeoutMs)
            throws IOException {
        long deadline = deadline(timeoutMs);
        socket.setTcpNoDelay(true);
        if (!Arrays.equals(readFully(socket, MAGIC.length, deadline), MAGIC)) {
            throw new WrongSecretException("another program listens there");
        }
        byte[] theirs = readFully(socket, NONCE_BYTES, deadline);
        byte[] mine = nonce(random);
        socket.getOutputStream().write(join(mine, secret.derive("client", theirs, mine)));
        if (readFully(socket, 1, deadline)[0] != 1) {
            throw new WrongSecretException("it refuses this process, which has another secret");
        }
        byte[] proof = readFully(socket, MAC_BYTES, deadline);
        if (!MessageDigest.isEqual(secret.derive("server", mine, theirs), proof)) {
            throw new WrongSecretException("it does not know this job's secret");
        }
        return new SecureConnection(
                socket, secret.derive("to server", theirs, mine), secret.derive("to client", theirs, mine));
    }

    private static byte[] nonce(SecureRandom random) {
        byte[] nonce = new byte[NONCE_BYTES];
        random.nextBytes(nonce);
        return nonce;
    }

    private static byte[] join(byte[] first, byte[] second) {
        byte[] both = Arrays.copyOf(first, first.length + second.length);
        System.arraycopy(second, 0, both, first.length, second.length);
        return both;
    }

    static long deadline(long timeoutMs) {
        return System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMs);
    }

    private static int leftMs(long deadline) throws SocketTimeoutException {
        long left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
        if (left <= 0) {
            throw new SocketTimeoutException("no complete answer in time");
        }
        return (int) Math.min(left, Integer.MAX_VALUE);
    }

    /** All of it within the deadline, however slowly single bytes come. */
    private static byte[] readFully(Socket socket, int length, long deadline) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(length);
        fill(socket, socket.getInputStream(), bytes, deadline);
        return bytes.array();
    }

    private static void fill(Socket socket, InputStream in, ByteBuffer bytes, long deadline) throws IOException {
        while (bytes.hasRemaining()) {
            socket.setSoTimeout(leftMs(deadline));
            int n = in.read(bytes.array(), bytes.position(), bytes.remaining());
            if (n < 0) {
                throw new EOFException("the connection was closed");
            }
            bytes.position(bytes.position() + n);
        }
    }

    /** Sends a frame. */
    void write(byte[] payload) throws IOException {
        if (payload.length > MAX_FRAME_BYTES) {
            throw new IllegalArgumentException("a frame of " + payload.length + " bytes");
        }
        byte[] mac = mac(sending, sent++, payload, payload.length);
        ByteBuffer frame = ByteBuffer.allocate(Integer.BYTES + payload.length + mac.length);
        frame.putInt(payload.length).put(payload).put(mac);
        out.write(frame.array());
    }

    /**
     * The next frame. After a {@link SocketTimeoutException} the connection is intact: the next read goes on where this one
     * has stopped.
     *
     * @throws IOException if the connection is closed, or the frame is too long or not authentic
     */
    byte[] read(long timeoutMs) throws IOException {
        long deadline = deadline(timeoutMs);
        if (head.hasRemaining()) {
            fill(socket, in, head, deadline);
            int length = head.getInt(0);
            if (length < 0 || length > MAX_FRAME_BYTES) {
                throw new IOException("a frame of " + length + " bytes");
            }
            body = ByteBuffer.allocate(length + MAC_BYTES);
        }
        fill(socket, in, body, deadline);
        int length = head.getInt(0);
        byte[] bytes = body.array();
        byte[] expected = mac(receiving, received++, bytes, length);
        if (!MessageDigest.isEqual(expected, Arrays.copyOfRange(bytes, length, bytes.length))) {
            throw new IOException("a frame that is not authentic");
        }
        head.clear();
        body = ByteBuffer.allocate(0);
        return Arrays.copyOf(bytes, length);
    }

    private static byte[] mac(Mac mac, long number, byte[] payload, int length) {
        mac.update(ByteBuffer.allocate(Long.BYTES + Integer.BYTES)
                .putLong(number)
                .putInt(length)
                .flip());
        mac.update(payload, 0, length);
        return mac.doFinal();
    }

    @Override
    public void close() {
        closeQuietly(socket);
    }

    static void closeQuietly(AutoCloseable resource) {
        try {
            resource.close();
        } catch (Exception e) {
            // it is not used any more either way
        }
    }
}
