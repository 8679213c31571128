/** A backend of shapes without values: a model runs on it for its layouts and collectives, on any laptop. */
@org.jspecify.annotations.NullMarked
package org.tp4j.tensor.meta;
