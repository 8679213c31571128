package org.tp4j.nccl.internal;

/**
 * The parts of a session that its groups use.
 *
 * @param context the rank, its device, and the state of the session
 * @param streams the streams that carry its calls
 * @param communicators its communicators
 */
record SessionParts(NcclContext context, CallStreams streams, Communicators communicators) {}
