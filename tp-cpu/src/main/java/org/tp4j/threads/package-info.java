/**
 * Ranks as threads of one JVM: {@link org.tp4j.threads.ThreadRanks} starts them, on CPUs or with a GPU each.
 *
 * <p>The engine of their collectives, from the bottom: {@code DataMovement} is what one collective does to the ranks'
 * arrays, cut into chunks; {@code SharedCall} is one collective as all its ranks share it, and whoever waits for it works on
 * its chunks; {@code Exchange} is what the ranks of a group share; {@code ThreadJob} knows who has failed or left.
 */
@org.jspecify.annotations.NullMarked
package org.tp4j.threads;
