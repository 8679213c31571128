/**
 * The control channel between ranks, beside the engines that move data, so that it works when these are stuck.
 *
 * <p>Bottom up: {@code ControlSecret} is what only the processes of a job know; {@code SecureConnection} carries frames that
 * nobody else can make; {@code ControlBoard} is what ranks tell each other; {@code ControlServer} and {@code RankSession} serve
 * it; {@code ControlClient} makes requests over connections that may break; {@code ControlLink} is a rank's heartbeat with its
 * posts; {@code JobStragglers} says who keeps a call from completing.
 */
@org.jspecify.annotations.NullMarked
package org.tp4j.comm.internal.control;
