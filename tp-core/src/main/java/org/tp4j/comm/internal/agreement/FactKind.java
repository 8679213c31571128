package org.tp4j.comm.internal.agreement;

/** What the value of a fact is, which decides how a difference is put into words. */
public enum FactKind {
    /** Nothing: how often it occurs is what must be equal. */
    OCCURRENCE,
    /** The bits of a double. */
    NUMBER,
    /** A hash of some content. */
    CONTENT
}
