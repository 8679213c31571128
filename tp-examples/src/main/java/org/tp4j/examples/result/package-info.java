/** The outcome of a training: its settings and environment, losses, accuracies and speed. */
@org.jspecify.annotations.NullMarked
package org.tp4j.examples.result;
