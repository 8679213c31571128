/** Programs that show the main path from top to bottom. */
@org.jspecify.annotations.NullMarked
package org.tp4j.examples;
