package org.tp4j.comm.internal.control;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.HexFormat;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** A secret that only the processes of one job know. It is never sent over the control channel. */
public final class ControlSecret {
    private static final String ALGORITHM = "HmacSHA256";
    private static final int BYTES = 32;

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
        if (text.length() < 16) {
            throw new IllegalArgumentException(
                    "the job's secret has " + text.length() + " characters; HINT: it needs at least 16");
        }
        return new ControlSecret(text.getBytes(StandardCharsets.UTF_8));
    }

    /** The answer to a challenge, which proves knowledge of the secret. */
    public byte[] answer(byte[] challenge) {
        try {
            Mac mac = Mac.getInstance(ALGORITHM);
            mac.init(new SecretKeySpec(key, ALGORITHM));
            return mac.doFinal(challenge);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e); // every JDK has it
        }
    }

    /** Whether {@code answer} is right, compared in constant time. */
    boolean accepts(byte[] challenge, byte[] answer) {
        return MessageDigest.isEqual(answer(challenge), answer);
    }

    /** Does not reveal the secret. */
    @Override
    public String toString() {
        return "a secret";
    }
}
