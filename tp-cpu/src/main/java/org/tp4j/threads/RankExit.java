package org.tp4j.threads;

import org.jspecify.annotations.Nullable;

/**
 * A rank that will make no further calls.
 *
 * @param what what it did, for messages: {@code has failed: ...} or {@code has finished}
 * @param cause what it threw, if it failed
 */
record RankExit(String what, @Nullable Throwable cause) {}
