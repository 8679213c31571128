package org.tp4j.tests.parity;

import java.util.Map;
import java.util.function.Supplier;
import org.tp4j.nn.Layer;
import org.tp4j.parallel.ParallelStyle;

/**
 * A model and how it is split: a row of the parity table.
 *
 * @param name what is particular about it
 * @param task what it is trained on
 * @param model makes it, not yet placed
 * @param plan how it is split
 */
public record Configuration(
        String name, Task task, Supplier<? extends Layer> model, Map<String, ? extends ParallelStyle> plan) {}
