package org.tp4j.cuda.internal.compile;

/** What a pass of a reduction writes its results as. */
public enum ResultForm {
    /** A value and its error, for another pass. */
    AS_STATE,
    /** Elements of the type that is reduced. */
    AS_SCALAR,
    /** 32-bit floats. */
    AS_FLOAT,
    /** 64-bit floats. */
    AS_DOUBLE
}
