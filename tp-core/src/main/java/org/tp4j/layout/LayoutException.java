package org.tp4j.layout;

import org.tp4j.tensor.TpException;

/**
 * Layouts that would give a wrong value or gradient, or that an operation cannot work on. The message names the
 * operation, the layouts, the mesh axis, the module and the redistribution that fixes it.
 */
public class LayoutException extends TpException {
    private static final long serialVersionUID = 1L;

    private final String operation;

    /**
     * @param operation what was asked for
     * @param message the whole message
     */
    public LayoutException(String operation, String message) {
        super(message);
        this.operation = operation;
    }

    /** Name of the operation that was refused. */
    public String operation() {
        return operation;
    }
}
