/** Programs that show the main path from top to bottom. */
package org.tp4j.examples;
