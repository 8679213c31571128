/**
 * The process group over NCCL. Bottom up: {@code NcclContext} is what all parts of a session share; {@code CallStream} is a
 * stream that carries calls, each an {@code NcclWork}; {@code Communicator} wraps NCCL's, {@code MessageLink} carries
 * messages between two ranks, and {@code NcclProcessGroup} starts the collectives; {@code NcclSession} is a rank's connection
 * as a whole, {@code NcclWatchdog} watches it.
 */
@org.jspecify.annotations.NullMarked
package org.tp4j.nccl.internal;
