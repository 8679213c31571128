/** Measurements, each one line of JSON with the fields of the PyTorch script that it is compared with. */
@org.jspecify.annotations.NullMarked
package org.tp4j.tests.bench;
