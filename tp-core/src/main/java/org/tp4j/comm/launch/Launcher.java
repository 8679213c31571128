package org.tp4j.comm.launch;

import java.util.Map;
import java.util.Optional;
import org.tp4j.comm.CommunicationException;

/** A service that starts ranks, or joins those started with this process; found by {@link java.util.ServiceLoader}. */
public interface Launcher {
    /** Its name, such as {@code threads} or {@code mpi}. */
    String name();

    /** Whether its ranks can use devices of this type. */
    boolean serves(String deviceType);

    /** Why it cannot be used on this machine, as a message for the user; empty if it can. Throws nothing. */
    Optional<String> unavailable();

    /**
     * Whether this process was started as one of several ranks that this launcher joins.
     *
     * @param environment the process's environment variables
     */
    boolean launched(Map<String, String> environment);

    /**
     * Runs {@code main} as every rank (threads), or as the rank this process is.
     *
     * @throws CommunicationException if it cannot be used; says what was searched for and what to install
     */
    void run(LaunchOptions options, RankMain main);
}
