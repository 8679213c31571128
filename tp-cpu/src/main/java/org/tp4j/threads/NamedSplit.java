package org.tp4j.threads;

/** What a rank asks of a split. */
record NamedSplit(String name, int color, int key) {}
