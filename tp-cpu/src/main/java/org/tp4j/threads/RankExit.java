package org.tp4j.threads;

import org.jspecify.annotations.Nullable;

/**
 * How a rank ended; it makes no further calls.
 *
 * @param what for messages: {@code has failed: ...} or {@code has returned}
 * @param cause what it threw if it failed
 */
record RankExit(String what, @Nullable Throwable cause) {}
