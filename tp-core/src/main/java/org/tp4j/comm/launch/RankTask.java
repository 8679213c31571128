package org.tp4j.comm.launch;

import org.tp4j.comm.World;

/** What every rank runs where a result is asked for. */
@FunctionalInterface
public interface RankTask<R> {
    /** Runs as the rank that {@code world} describes; what it throws ends all ranks. */
    R call(World world) throws Exception;
}
