/**
 * Modules and their parameters, written for one rank; on a mesh they are the same modules with their parameters placed and
 * their tensors redistributed by {@code org.tp4j.parallel}.
 */
@org.jspecify.annotations.NullMarked
package org.tp4j.nn;
