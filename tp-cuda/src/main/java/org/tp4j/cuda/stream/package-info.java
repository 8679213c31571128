/** Streams and events of a device, the trace of what is enqueued on them, and errors of driver calls. */
@org.jspecify.annotations.NullMarked
package org.tp4j.cuda.stream;
