package org.tp4j.mpi;

import java.util.List;

/**
 * An MPI communicator as this process sees it.
 *
 * @param job what all communicators of this process share
 * @param handle MPI's handle
 * @param rank this process's rank in it
 * @param worldRanks world ranks of the members, in order
 */
record MpiComm(MpiJob job, long handle, int rank, List<Integer> worldRanks) {
    MpiComm {
        worldRanks = List.copyOf(worldRanks);
    }

    int size() {
        return worldRanks.size();
    }
}
