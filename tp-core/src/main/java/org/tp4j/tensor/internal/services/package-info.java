/** Finding what other modules provide. */
@org.jspecify.annotations.NullMarked
package org.tp4j.tensor.internal.services;
