package org.tp4j.comm.engine;

import org.tp4j.comm.CommunicationOptions;
import org.tp4j.comm.record.FlightRecorder;
import org.tp4j.tensor.Backend;

/**
 * A rank as a {@link GroupEngine} needs to know it.
 *
 * @param rank its number
 * @param size number of ranks
 * @param backend its device
 * @param rendezvous where ranks leave notes for one another, such as an id that all need; of this job alone
 * @param stragglers says which rank is behind
 * @param recorder where its calls are kept
 * @param options settings of the collectives
 */
public record GroupMember(
        int rank,
        int size,
        Backend backend,
        KeyValueStore rendezvous,
        Stragglers stragglers,
        FlightRecorder recorder,
        CommunicationOptions options) {}
