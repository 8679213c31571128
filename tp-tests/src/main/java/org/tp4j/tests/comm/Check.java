package org.tp4j.tests.comm;

import org.tp4j.comm.World;

/**
 * One thing every engine has to do.
 *
 * @param name what is checked
 * @param minRanks the smallest world it makes sense in
 * @param body run by every rank; throws if the engine fails
 */
public record Check(String name, int minRanks, Body body) {
    /** The program of one rank. */
    @FunctionalInterface
    public interface Body {
        /** Runs as one rank. */
        void run(World world) throws Exception;
    }

    @Override
    public String toString() {
        return name;
    }
}
