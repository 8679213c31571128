package org.tp4j.comm.internal.control;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.util.EnumSet;
import java.util.HexFormat;
import java.util.Set;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.tp4j.comm.CommunicationException;

/** A secret that only the processes of one job know. It is never sent over the control channel. */
public final class ControlSecret {
    private static final String ALGORITHM = "HmacSHA256";
    private static final int BYTES = 32;
    private static final int LEAST_CHARACTERS = 16;
    private static final int MOST_CHARACTERS = 4096;
    private static final Set<PosixFilePermission> OWNER = EnumSet.of(
            PosixFilePermission.OWNER_READ, PosixFilePermission.OWNER_WRITE, PosixFilePermission.OWNER_EXECUTE);

    private final byte[] key;

    private ControlSecret(byte[] key) {
        this.key = key;
    }

    /** A new random secret, as text. */
    public static String random() {
        byte[] key = new byte[BYTES];
        new SecureRandom().nextBytes(key);
        return HexFormat.of().formatHex(key);
    }

    /**
     * The secret that was handed over as text, by a private channel.
     *
     * @throws IllegalArgumentException if it is shorter than 16 characters
     */
    public static ControlSecret of(String text) {
        if (text.length() < LEAST_CHARACTERS) {
            throw new IllegalArgumentException(
                    "the job's secret has " + text.length() + " characters; HINT: it needs at" + " least "
                            + LEAST_CHARACTERS + ", such as those of 'openssl rand -hex 32'");
        }
        return new ControlSecret(text.getBytes(StandardCharsets.UTF_8));
    }

    /**
     * The secret in a file that nobody but its owner can read.
     *
     * @throws CommunicationException if the file is missing, is not a regular file, or others have access to it
     */
    public static ControlSecret ofFile(Path file) {
        try {
            if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
                throw new CommunicationException("the file of the job's secret, " + file
                        + ", is missing or not a regular file; HINT: (umask 077; openssl rand -hex 32 > " + file + ")");
            }
            Set<PosixFilePermission> permissions = Files.getPosixFilePermissions(file, LinkOption.NOFOLLOW_LINKS);
            if (!OWNER.containsAll(permissions)) {
                throw new CommunicationException("others have access to the file of the job's secret, " + file
                        + ": its mode is " + PosixFilePermissions.toString(permissions) + "; HINT: chmod 600 " + file
                        + ", after writing a new secret to it");
            }
            if (Files.size(file) > MOST_CHARACTERS) {
                throw new CommunicationException("the file of the job's secret, " + file + ", has " + Files.size(file)
                        + " bytes; HINT: one line of " + LEAST_CHARACTERS + " to " + MOST_CHARACTERS + " characters");
            }
            return of(Files.readString(file).strip());
        } catch (IOException | UnsupportedOperationException e) {
            throw new CommunicationException(
                    "the file of the job's secret, " + file + ", cannot be read: " + e.getMessage(), e);
        }
    }

    /** A key for one purpose that proves knowledge of the secret but does not reveal it. */
    byte[] derive(String purpose, byte[]... parts) {
        Mac mac = mac(key);
        mac.update(purpose.getBytes(StandardCharsets.UTF_8));
        mac.update((byte) 0);
        for (byte[] part : parts) {
            mac.update(part);
        }
        return mac.doFinal();
    }

    /** A keyed hash function. */
    static Mac mac(byte[] key) {
        try {
            Mac mac = Mac.getInstance(ALGORITHM);
            mac.init(new SecretKeySpec(key, ALGORITHM));
            return mac;
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e); // every JDK has it
        }
    }

    /** A short hash that tells secrets apart and does not reveal them. */
    public String fingerprint() {
        return HexFormat.of().formatHex(derive("fingerprint"), 0, 4);
    }

    /** Does not reveal the secret. */
    @Override
    public String toString() {
        return "a secret";
    }
}
