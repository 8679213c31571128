/**
 * Loops with the incubating Vector API; the only package that touches it. Loaded only where the module {@code
 * jdk.incubator.vector} is present.
 */
@org.jspecify.annotations.NullMarked
package org.tp4j.cpu.internal.vector;
