package org.tp4j.comm.launch;

import org.tp4j.comm.World;

/** The program that every rank runs. */
@FunctionalInterface
public interface RankMain {
    /** Runs as the rank that {@code world} describes; an exception ends all ranks. */
    void run(World world) throws Exception;
}
