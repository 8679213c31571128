/**
 * The ground floor: types, shapes, memory and its owners, the {@link org.tp4j.tensor.Tensor} interface users write
 * against, and the {@link org.tp4j.tensor.Backend} service interface that a device implements.
 *
 * <p>Nothing here knows of ranks, layouts or gradients.
 */
@org.jspecify.annotations.NullMarked
package org.tp4j.tensor;
