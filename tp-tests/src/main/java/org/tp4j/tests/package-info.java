/** Runners that span modules: conformance, parity, benchmarks. */
@org.jspecify.annotations.NullMarked
package org.tp4j.tests;
