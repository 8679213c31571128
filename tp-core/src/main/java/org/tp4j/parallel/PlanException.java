package org.tp4j.parallel;

import java.util.List;
import org.tp4j.tensor.TpException;

/** A plan that cannot be carried out; the model is unchanged. Lists everything that is wrong with it at once. */
public class PlanException extends TpException {
    private static final long serialVersionUID = 1L;

    private final transient List<String> problems;

    /** @param problems everything that is wrong, one sentence each */
    public PlanException(List<String> problems) {
        super("the plan cannot be carried out, nothing was changed:\n  - " + String.join("\n  - ", problems));
        this.problems = List.copyOf(problems);
    }

    /** Everything that is wrong, one sentence each. */
    public List<String> problems() {
        return problems;
    }
}
