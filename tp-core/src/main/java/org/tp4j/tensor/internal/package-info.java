/** What backends share and users do not need: 16-bit floats, and opening native libraries once with the outcome kept. */
@org.jspecify.annotations.NullMarked
package org.tp4j.tensor.internal;
