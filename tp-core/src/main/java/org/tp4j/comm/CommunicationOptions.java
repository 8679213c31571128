package org.tp4j.comm;

import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.tp4j.comm.engine.GroupEngine;
import org.tp4j.comm.engine.GroupEngines;
import org.tp4j.comm.record.CheckingGroup;

/**
 * Settings of the collectives, fixed when ranks start.
 *
 * @param timeoutMs how long a rank waits for its peers in one call before it reports who is behind and fails
 * @param checking whether ranks compare signatures before any data moves ({@link CheckingGroup})
 * @param flightRecord folder for the last calls of a failing rank, or null for none
 * @param engine what carries collectives between devices: {@code auto}, {@code host} or an engine's name, see
 *     {@link GroupEngines#choose}
 */
public record CommunicationOptions(
        long timeoutMs, boolean checking, @Nullable Path flightRecord, String engine) {
    /** System property: seconds a rank waits for its peers; 600 by default. Ranks have at least 60 to start. */
    public static final String TIMEOUT = "tp4j.comm.timeoutSeconds";

    /** System property: {@code true} turns checking mode on. */
    public static final String CHECKING = "tp4j.comm.check";

    /** System property: folder for flight records. */
    public static final String FLIGHT_RECORD = "tp4j.comm.flightRecord";

    /** System property: {@code auto} (the default), {@code host}, or the name of a {@link GroupEngine} such as {@code nccl}. */
    public static final String ENGINE = "tp4j.comm.engine";

    /** Engine: the device type's own engine if every rank has its own device, otherwise host memory. */
    public static final String AUTO = "auto";

    /** Engine: collectives go through host memory. */
    public static final String HOST = "host";

    private static final long START_MS = 60_000;
    private static final long LONGEST_MS = 366L * 24 * 3600 * 1000;

    /** Checks the values. */
    public CommunicationOptions {
        if (timeoutMs <= 0 || timeoutMs > LONGEST_MS) {
            throw new IllegalArgumentException("timeout of " + timeoutMs
                    + " ms; HINT: it must be positive, and at most a year, " + LONGEST_MS + " ms");
        }
    }

    /** Read from the system properties. */
    public static CommunicationOptions fromSystem() {
        String seconds = System.getProperty(TIMEOUT, "600");
        long timeoutMs;
        try {
            double parsed = Double.parseDouble(seconds);
            if (!(parsed > 0 && parsed <= LONGEST_MS / 1000.0)) {
                throw new IllegalArgumentException("-D" + TIMEOUT + "=" + seconds
                        + "; HINT: a number of seconds above 0 and at most a year, " + LONGEST_MS / 1000);
            }
            timeoutMs = Math.max(1, Math.round(1000 * parsed));
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException(
                    "-D" + TIMEOUT + "=" + seconds + " is not a number of seconds; HINT: such as 600", e);
        }
        String folder = System.getProperty(FLIGHT_RECORD, "");
        return new CommunicationOptions(
                timeoutMs,
                Boolean.getBoolean(CHECKING),
                folder.isEmpty() ? null : Path.of(folder),
                System.getProperty(ENGINE, AUTO));
    }

    /**
     * How long a rank waits for its peers to join the job: processes start apart, by what a busy machine takes to load
     * them, which says nothing about a call.
     */
    public long startTimeoutMs() {
        return Math.max(timeoutMs, START_MS);
    }

    /** The folder for flight records, if one is set. */
    public Optional<Path> flightRecordFolder() {
        return Optional.ofNullable(flightRecord);
    }

    /** With another timeout. */
    public CommunicationOptions withTimeoutMs(long ms) {
        return new CommunicationOptions(ms, checking, flightRecord, engine);
    }

    /** With checking mode on or off. */
    public CommunicationOptions withChecking(boolean on) {
        return new CommunicationOptions(timeoutMs, on, flightRecord, engine);
    }

    /** With another folder for flight records. */
    public CommunicationOptions withFlightRecord(@Nullable Path folder) {
        return new CommunicationOptions(timeoutMs, checking, folder, engine);
    }

    /** With another engine. */
    public CommunicationOptions withEngine(String name) {
        return new CommunicationOptions(timeoutMs, checking, flightRecord, name);
    }
}
