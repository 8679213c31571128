/**
 * Collectives between ranks on CPUs: threads of one JVM ({@link org.tp4j.cpu.comm.ThreadRanks}), or processes under
 * {@code mpirun}.
 *
 * <p>The in-JVM engine, from the bottom: {@code Reducer} joins arrays; {@code Movement} is what one collective does to
 * the ranks' arrays, cut into chunks; {@code Meeting} is where the ranks of one call meet, and whoever waits there does
 * chunks; {@code Exchange} is what the ranks of a group share; {@code ThreadJob} knows who has failed or left.
 */
@org.jspecify.annotations.NullMarked
package org.tp4j.cpu.comm;
