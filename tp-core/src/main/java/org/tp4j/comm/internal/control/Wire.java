package org.tp4j.comm.internal.control;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;

/** What client and server of the control channel say to each other, inside the frames of a {@link SecureConnection}. */
final class Wire {
    /** Rank, id of the client, process id, host: the first frame of a connection. */
    static final byte HELLO = 1;

    static final byte SET = 2;
    static final byte GET = 3;
    /** A rank: asks for its progress. */
    static final byte SEEN = 4;
    /** This rank's progress, posts, and the latest notice it knows: asks for later ones. */
    static final byte BEAT = 5;
    /** How this rank has ended. */
    static final byte END = 6;

    /** Answers. */
    static final byte REFUSED = 0;

    static final byte OK = 1;

    private Wire() {}

    /** Writes the body of a message. */
    interface Body {
        void write(DataOutputStream out) throws IOException;
    }

    /** A request, or an answer, with a number. */
    static byte[] message(byte kind, long number, Body body) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (DataOutputStream out = new DataOutputStream(bytes)) {
            out.writeByte(kind);
            out.writeLong(number);
            body.write(out);
        } catch (IOException e) {
            throw new IllegalStateException(e); // in memory
        }
        return bytes.toByteArray();
    }

    static DataInputStream reader(byte[] message) {
        return new DataInputStream(new ByteArrayInputStream(message));
    }

    static void writeBytes(DataOutputStream out, byte[] bytes) throws IOException {
        out.writeInt(bytes.length);
        out.write(bytes);
    }

    /** An array no longer than what is left of the message. */
    static byte[] readBytes(DataInputStream in) throws IOException {
        int length = in.readInt();
        if (length < 0 || length > in.available()) {
            throw new IOException("an array of " + length + " bytes in a message with " + in.available() + " left");
        }
        byte[] bytes = new byte[length];
        in.readFully(bytes);
        return bytes;
    }

    static String readKey(DataInputStream in) throws IOException {
        String key = in.readUTF();
        if (key.length() > ControlBoard.MAX_KEY_CHARS) {
            throw new IOException("a key of " + key.length() + " characters");
        }
        return key;
    }
}
