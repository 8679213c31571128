/** The contract of collectives engines, written once: what every engine passes, as threads, under MPI or on GPUs. */
@org.jspecify.annotations.NullMarked
package org.tp4j.tests.comm;
