package org.tp4j.comm.internal.control;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.UnknownHostException;

/**
 * The process at the other end of a connection.
 *
 * @param pid its number
 * @param isLocal whether it is on this machine, as far as can be told
 */
record Peer(long pid, boolean isLocal) {
    static void writeSelf(DataOutputStream out) throws IOException {
        out.writeLong(ProcessHandle.current().pid());
        out.writeUTF(hostName());
    }

    static Peer read(DataInputStream in, Socket socket) throws IOException {
        long pid = in.readLong();
        boolean isLocal = in.readUTF().equals(hostName())
                && (socket.getInetAddress().isLoopbackAddress()
                        || socket.getInetAddress().equals(socket.getLocalAddress()));
        return new Peer(pid, isLocal);
    }

    private static String hostName() {
        try {
            return InetAddress.getLocalHost().getHostName();
        } catch (UnknownHostException e) {
            return "";
        }
    }

    /** Whether the process is known to have ended. */
    boolean isDead() {
        return isLocal && ProcessHandle.of(pid).isEmpty();
    }
}
