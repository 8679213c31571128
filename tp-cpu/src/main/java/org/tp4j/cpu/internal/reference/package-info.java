/** Every kernel in its plainest form, for all types: the oracle for the fast ones on CPU and GPU. */
@org.jspecify.annotations.NullMarked
package org.tp4j.cpu.internal.reference;
