package org.tp4j.tests.conformance;

import java.util.List;
import java.util.Optional;

/** Runs the cases of one kind, which it knows by their tensors. */
public interface CaseRunner {
    /** Whether a case is of this kind. */
    boolean recognises(ReferenceCase about);

    /** Why a case cannot be run on so many ranks, or not yet. */
    default Optional<String> skips(ReferenceCase about, int ranks) {
        return Optional.empty();
    }

    /** Runs a case and compares; the names of the ways in which it was computed. Collective. */
    List<String> run(CaseData data);
}
