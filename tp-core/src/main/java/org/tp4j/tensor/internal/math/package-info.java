/** Functions of single numbers: 16-bit floats, activations in 64 bits, elements as bits. Depends on nothing else here. */
@org.jspecify.annotations.NullMarked
package org.tp4j.tensor.internal.math;
