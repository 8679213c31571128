/**
 * Ranks as threads of one JVM: {@link org.tp4j.threads.ThreadRanks} starts them, on the CPU or on GPUs.
 *
 * <p>The engine of their collectives, bottom up: {@code Party} is one rank's side of a call; {@code DataMovement} is what a
 * call does to the parties' arrays, divided into chunks; {@code SharedCall} is one call shared by its parties, and whoever
 * waits for it works on its chunks; {@code Exchange} is what the ranks of a group share; {@code ThreadGroup} has the movement
 * of each collective; {@code ThreadJob} knows which ranks have failed or finished.
 */
@org.jspecify.annotations.NullMarked
package org.tp4j.threads;
