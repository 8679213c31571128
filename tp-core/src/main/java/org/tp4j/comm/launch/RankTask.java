package org.tp4j.comm.launch;

import org.tp4j.comm.World;

/** A program that every rank runs and that returns a result. */
@FunctionalInterface
public interface RankTask<R> {
    /** Runs as the rank that {@code world} describes; an exception ends all ranks. */
    R call(World world) throws Exception;
}
