package org.tp4j.comm;

import org.tp4j.tensor.Backend;

/**
 * What a launched rank knows of itself: its number, the group of all ranks and the device it is bound to. Passed to
 * whatever needs it; nothing keeps it in a static field.
 */
public interface World extends AutoCloseable {
    /** This rank's number, from 0. */
    default int rank() {
        return group().rank();
    }

    /** Number of ranks. */
    default int size() {
        return group().size();
    }

    /** This rank's number among those on its machine. */
    int localRank();

    /** Number of ranks on this machine. */
    int localSize();

    /** The group of all ranks. */
    ProcessGroup group();

    /** The device this rank computes on. */
    Backend backend();

    /** How the ranks were started: {@code threads}, {@code mpi} or {@code alone}. */
    String launcher();

    /** Leaves; collective where the engine needs it to be. */
    @Override
    void close();
}
