package org.tp4j.cpu.comm;

/** What a rank asks of a split. */
record SplitWish(String name, int color, int key) {}
