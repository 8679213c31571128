/** Runners that span modules: conformance, parity, benchmarks. */
package org.tp4j.tests;
