/**
 * Calls on process groups as values, and the decorators around them: {@link org.tp4j.comm.record.FlightRecorder} keeps the
 * last ones, {@link org.tp4j.comm.record.RecordingGroup} counts them, {@link org.tp4j.comm.record.CheckingGroup} compares
 * them over ranks.
 */
@org.jspecify.annotations.NullMarked
package org.tp4j.comm.record;
