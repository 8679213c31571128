/** The control channel between ranks: a key-value store over TCP, heartbeats, and reports of who is behind when a call takes too long. */
@org.jspecify.annotations.NullMarked
package org.tp4j.comm.internal.control;
