/**
 * Runs reference vectors: {@link org.tp4j.tests.conformance.ReferenceIndex} reads a folder of them, {@link
 * org.tp4j.tests.conformance.Runners} knows what can run them, and there is one runner a kind.
 */
@org.jspecify.annotations.NullMarked
package org.tp4j.tests.conformance;
