package org.tp4j.threads;

/** What a rank asks of a split. */
record SplitRequest(String name, int color, int key) {}
