/** What backends share and users do not need: opening native libraries once and remembering the outcome. */
@org.jspecify.annotations.NullMarked
package org.tp4j.tensor.internal;
