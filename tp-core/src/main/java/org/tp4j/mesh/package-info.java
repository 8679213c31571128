/** Ranks arranged in a grid with named axes: {@link org.tp4j.mesh.DeviceMesh}. */
@org.jspecify.annotations.NullMarked
package org.tp4j.mesh;
