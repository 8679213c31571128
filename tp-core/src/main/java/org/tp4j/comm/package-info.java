/**
 * Groups of ranks: {@link org.tp4j.comm.ProcessGroup} and its collectives, {@link org.tp4j.comm.Work} to wait for,
 * and {@link org.tp4j.comm.World}, what a launched rank knows about itself.
 */
@org.jspecify.annotations.NullMarked
package org.tp4j.comm;
