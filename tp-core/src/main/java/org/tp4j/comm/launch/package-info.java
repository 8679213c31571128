/**
 * Starting and joining ranks: {@link org.tp4j.comm.launch.Launch} runs a program as ranks, a {@link
 * org.tp4j.comm.launch.Launcher} is one way to do so.
 */
@org.jspecify.annotations.NullMarked
package org.tp4j.comm.launch;
