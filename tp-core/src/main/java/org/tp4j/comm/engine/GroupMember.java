package org.tp4j.comm.engine;

import org.tp4j.comm.CommunicationOptions;
import org.tp4j.comm.record.FlightRecorder;
import org.tp4j.tensor.Backend;

/**
 * What a {@link GroupEngine} needs to know about a rank.
 *
 * @param rank its number
 * @param size number of ranks
 * @param backend its device
 * @param store where ranks publish values for one another, such as an id that all need; private to the job
 * @param stragglers knows which rank is behind
 * @param recorder keeps its calls
 * @param options settings of the collectives
 */
public record GroupMember(
        int rank,
        int size,
        Backend backend,
        KeyValueStore store,
        Stragglers stragglers,
        FlightRecorder recorder,
        CommunicationOptions options) {}
