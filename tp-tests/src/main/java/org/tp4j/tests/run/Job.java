package org.tp4j.tests.run;

import org.tp4j.comm.World;

/** Something that all ranks do together and that comes out well or not. */
public interface Job {
    /** Its name in the report. */
    String name();

    /**
     * Runs as one rank; every rank must come to an outcome of its own, or throw.
     *
     * @throws Exception whatever went wrong: the job has failed
     */
    Outcome run(World world) throws Exception;
}
