/** The CUDA driver's objects as Java classes: device, streams, events, device pointers; result codes become exceptions. */
@org.jspecify.annotations.NullMarked
package org.tp4j.cuda.internal.driver;
