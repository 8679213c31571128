/**
 * Splits modules over a mesh axis: a plan is a map from module names to {@link org.tp4j.parallel.ParallelStyle styles}, and
 * {@link org.tp4j.parallel.Parallelize} carries it out.
 *
 * <p>The way of a column-parallel layer: {@link org.tp4j.parallel.ColwiseParallel} shards the weight's rows and puts f, the
 * redistribution Invariant → Replicate, before the product; {@link org.tp4j.parallel.RowwiseParallel} shards the next
 * weight's columns and puts g, Partial → Invariant, behind its product. Both are rows of {@link
 * org.tp4j.layout.Transition}; {@link org.tp4j.parallel.Mappings} gives them Megatron's names.
 */
@org.jspecify.annotations.NullMarked
package org.tp4j.parallel;
