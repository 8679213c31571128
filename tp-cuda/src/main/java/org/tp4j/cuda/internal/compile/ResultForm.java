package org.tp4j.cuda.internal.compile;

/** The form in which a reduction pass writes its results. */
public enum ResultForm {
    /** A value and its error, for another pass. */
    AS_STATE,
    /** Elements of the reduced type. */
    AS_SCALAR,
    /** 32-bit floats. */
    AS_FLOAT,
    /** 64-bit floats. */
    AS_DOUBLE
}
