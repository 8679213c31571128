/** The doctor: which parts of TP4J work on this machine, which do not, and what to install. */
@org.jspecify.annotations.NullMarked
package org.tp4j.examples.doctor;
