package org.tp4j.comm.launch;

import org.tp4j.comm.World;

/** What every rank runs. */
@FunctionalInterface
public interface RankMain {
    /** Runs as the rank that {@code world} describes; what it throws ends all ranks. */
    void run(World world) throws Exception;
}
