package org.tp4j.comm.engine;

import java.util.Optional;
import org.tp4j.comm.CommunicationException;

/**
 * Service that carries collectives between devices of one type without a detour through the host; found by
 * {@link java.util.ServiceLoader}. A launcher starts ranks and gives each a way to find the others; this makes their world
 * group.
 */
public interface GroupEngine {
    /** Its name, such as {@code nccl}. */
    String name();

    /** The type of device it communicates between, such as {@code cuda}. */
    String deviceType();

    /** Why it cannot be used on this machine, in words for the user; empty if it can. Throws nothing. */
    Optional<String> unavailable();

    /**
     * Joins the world group, as one of its ranks and on its thread; every rank calls it, and it waits for all. Each rank
     * has a device of its own.
     *
     * @throws CommunicationException if the ranks do not come together in time
     */
    GroupSession join(GroupMember member);
}
