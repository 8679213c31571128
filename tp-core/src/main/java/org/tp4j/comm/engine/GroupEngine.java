package org.tp4j.comm.engine;

import java.util.Optional;
import org.tp4j.comm.CommunicationException;

/**
 * A service, found by {@link java.util.ServiceLoader}, that carries collectives between devices of one type without a
 * detour through the host. A launcher starts ranks and gives each a way to find the others; the engine forms their world
 * group.
 */
public interface GroupEngine {
    /** Its name, such as {@code nccl}. */
    String name();

    /** The type of device it communicates between, such as {@code cuda}. */
    String deviceType();

    /** Why it cannot be used on this machine, as a message for the user; empty if it can. Throws nothing. */
    Optional<String> unavailable();

    /**
     * Joins the world group as one of its ranks, on that rank's thread. Every rank calls it, with a device of its own, and
     * it waits for all of them.
     *
     * @throws CommunicationException if the ranks do not all join in time
     */
    GroupSession join(GroupMember member);
}
