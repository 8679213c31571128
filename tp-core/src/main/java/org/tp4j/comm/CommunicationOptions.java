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
 * @param startTimeoutMs how long a rank waits for its peers to join the job: processes start apart, by what a busy machine
 *     takes to load them, which says nothing about a call
 * @param checking whether ranks compare signatures before any data moves ({@link CheckingGroup})
 * @param agreement whether what ranks must have in common is compared while they go on ({@link DisagreementException})
 * @param flightRecord folder for the last calls of a failing rank, or null for none
 * @param engine what carries collectives between devices: {@code auto}, {@code host} or an engine's name, see
 *     {@link GroupEngines#choose}
 */
public record CommunicationOptions(
        long timeoutMs,
        long startTimeoutMs,
        boolean checking,
        boolean agreement,
        @Nullable Path flightRecord,
        String engine) {
    /** System property: seconds a rank waits for its peers in a call; 600 by default. */
    public static final String TIMEOUT = "tp4j.comm.timeoutSeconds";

    /** System property: seconds a rank waits for its peers to start; by default as in a call, and at least 60. */
    public static final String START_TIMEOUT = "tp4j.comm.startTimeoutSeconds";

    /** System property: {@code true} turns checking mode on. */
    public static final String CHECKING = "tp4j.checking";

    /** System property: {@code off} stops the comparison of what ranks must have in common; it is on by default. */
    public static final String AGREEMENT = "tp4j.agreement";

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
        check(timeoutMs);
        check(startTimeoutMs);
    }

    private static void check(long timeoutMs) {
        if (timeoutMs <= 0 || timeoutMs > LONGEST_MS) {
            throw new IllegalArgumentException("timeout of " + timeoutMs
                    + " ms; HINT: it must be positive, and at most a year, " + LONGEST_MS + " ms");
        }
    }

    /** Read from the system properties. */
    public static CommunicationOptions fromSystem() {
        long timeoutMs = milliseconds(TIMEOUT, 600_000);
        long startTimeoutMs = milliseconds(START_TIMEOUT, Math.max(timeoutMs, START_MS));
        String folder = System.getProperty(FLIGHT_RECORD, "");
        return new CommunicationOptions(
                timeoutMs,
                startTimeoutMs,
                Boolean.getBoolean(CHECKING),
                !System.getProperty(AGREEMENT, "on").equals("off"),
                folder.isEmpty() ? null : Path.of(folder),
                System.getProperty(ENGINE, AUTO));
    }

    private static long milliseconds(String property, long otherwise) {
        String seconds = System.getProperty(property, "");
        if (seconds.isEmpty()) {
            return otherwise;
        }
        double parsed;
        try {
            parsed = Double.parseDouble(seconds);
        } catch (NumberFormatException e) {
            parsed = Double.NaN;
        }
        if (!(parsed > 0 && parsed * 1000 <= LONGEST_MS)) {
            throw new IllegalArgumentException("-D" + property + "=" + seconds
                    + "; HINT: a number of seconds, more than 0 and at most a year, " + LONGEST_MS / 1000);
        }
        return Math.max(1, Math.round(1000 * parsed));
    }

    /** The folder for flight records, if one is set. */
    public Optional<Path> flightRecordFolder() {
        return Optional.ofNullable(flightRecord);
    }

    /** With another timeout, and at least as much time to start. */
    public CommunicationOptions withTimeoutMs(long ms) {
        return new CommunicationOptions(ms, Math.max(ms, startTimeoutMs), checking, agreement, flightRecord, engine);
    }

    /** With checking mode on or off. */
    public CommunicationOptions withChecking(boolean on) {
        return new CommunicationOptions(timeoutMs, startTimeoutMs, on, agreement, flightRecord, engine);
    }

    /** With or without the comparison of what ranks must have in common. */
    public CommunicationOptions withAgreement(boolean on) {
        return new CommunicationOptions(timeoutMs, startTimeoutMs, checking, on, flightRecord, engine);
    }

    /** With another folder for flight records. */
    public CommunicationOptions withFlightRecord(@Nullable Path folder) {
        return new CommunicationOptions(timeoutMs, startTimeoutMs, checking, agreement, folder, engine);
    }

    /** With another engine. */
    public CommunicationOptions withEngine(String name) {
        return new CommunicationOptions(timeoutMs, startTimeoutMs, checking, agreement, flightRecord, name);
    }
}
