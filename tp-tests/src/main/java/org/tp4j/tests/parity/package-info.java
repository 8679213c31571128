/**
 * Shows that T ranks compute what one rank computes: {@link org.tp4j.tests.parity.Configurations} lists what is compared,
 * {@link org.tp4j.tests.parity.ParityJob} trains it on one rank and on T and measures how far apart they end.
 */
@org.jspecify.annotations.NullMarked
package org.tp4j.tests.parity;
