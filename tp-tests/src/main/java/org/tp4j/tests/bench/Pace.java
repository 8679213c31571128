package org.tp4j.tests.bench;

/**
 * How long is measured.
 *
 * @param warmUpMs milliseconds of warm-up of each contender
 * @param burstMs milliseconds of one burst of calls
 * @param rounds bursts of each contender; the median counts
 */
record Pace(int warmUpMs, int burstMs, int rounds) {}
