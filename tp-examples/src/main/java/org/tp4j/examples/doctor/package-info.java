/** The doctor: what of TP4J works on this machine, what does not, and what to install. */
@org.jspecify.annotations.NullMarked
package org.tp4j.examples.doctor;
