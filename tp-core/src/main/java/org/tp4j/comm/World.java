package org.tp4j.comm;

import org.tp4j.tensor.Backend;

/**
 * What a launched rank knows about itself: its number, the group of all ranks and its device. It is passed to whatever
 * needs it; nothing keeps it in a static field.
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

    /** This rank's number among the ranks on its machine, from 0. */
    int localRank();

    /** Number of ranks on this machine. */
    int localSize();

    /** The group of all ranks. */
    ProcessGroup group();

    /** The device this rank computes on. */
    Backend backend();

    /** The launcher that started the ranks: {@code threads}, {@code mpi} or {@code env}. */
    String launcher();

    /** Leaves the group; collective if the engine needs it to be. */
    @Override
    void close();
}
