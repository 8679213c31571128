/**
 * The ground floor: types, shapes, memory and its owners, the {@link org.tp4j.tensor.Tensor} interface users write
 * against, and the {@link org.tp4j.tensor.Backend} service interface that a device implements.
 *
 * <p>Nothing here knows of ranks, layouts or the tape. Many classes refer to each other, for one reason: {@code Tensor} names
 * every operation at the bottom, so that gradients can be written with it. A backend's kernels take arrays and elementwise
 * functions, arrays know their backend, and the functions know their derivatives, which are written with tensors. Types,
 * shapes, storage, scopes and step numbers depend on none of these.
 */
@org.jspecify.annotations.NullMarked
package org.tp4j.tensor;
