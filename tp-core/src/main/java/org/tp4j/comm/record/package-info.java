/**
 * Calls on process groups as values: {@link org.tp4j.comm.record.FlightRecorder} keeps the last ones. {@link
 * org.tp4j.comm.record.RecordingGroup} logs the calls on a group, {@link org.tp4j.comm.record.CheckingGroup} compares them
 * across ranks, and {@link org.tp4j.comm.record.AbstractProcessGroup} is the skeleton of every group.
 */
@org.jspecify.annotations.NullMarked
package org.tp4j.comm.record;
