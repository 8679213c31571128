package org.tp4j.optim;

import java.util.List;
import org.tp4j.tensor.TpException;

/** A gradient holds an infinity or a NaN; thrown on every rank, and no gradient is changed. */
public final class NonFiniteGradientException extends TpException {
    private static final long serialVersionUID = 1;

    private final double norm;
    private final List<String> parameters;

    NonFiniteGradientException(double norm, List<String> parameters) {
        super("the norm of all gradients is " + norm + "; "
                + (parameters.isEmpty()
                        ? "every element on this rank is finite"
                        : "on this rank the gradients of " + parameters + " are not finite")
                + "; no gradient was changed; HINT: a lower learning rate, or Optimizer.stepIfFinite() to skip such"
                + " steps");
        this.norm = norm;
        this.parameters = List.copyOf(parameters);
    }

    /** The norm, infinite or NaN. */
    public double norm() {
        return norm;
    }

    /** Names of the parameters whose gradients on this rank are not finite. */
    public List<String> parameters() {
        return parameters;
    }
}
