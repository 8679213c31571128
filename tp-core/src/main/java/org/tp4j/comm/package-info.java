/**
 * Ranks and what they say to each other: {@link org.tp4j.comm.ProcessGroup} is the service interface of a collectives
 * engine, {@link org.tp4j.comm.World} what a launched rank knows of itself, and decorators record or check calls.
 */
@org.jspecify.annotations.NullMarked
package org.tp4j.comm;
