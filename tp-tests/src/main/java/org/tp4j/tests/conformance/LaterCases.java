package org.tp4j.tests.conformance;

import java.util.List;
import java.util.Optional;

/** Kinds whose parts are not built yet: attention, rotary embeddings, whole models. */
final class LaterCases implements CaseRunner {
    private static Optional<String> part(ReferenceCase about) {
        if (about.setting("model") != null || about.has("input_ids")) {
            return Optional.of("whole models come with later work");
        }
        if (about.has("param.q_proj.weight") || about.setting("heads") != null) {
            return Optional.of("attention comes with later work");
        }
        if (about.setting("theta") != null || about.name().startsWith("rope")) {
            return Optional.of("rotary embeddings come with later work");
        }
        return Optional.empty();
    }

    @Override
    public boolean recognises(ReferenceCase about) {
        return part(about).isPresent();
    }

    @Override
    public Optional<String> skips(ReferenceCase about, int ranks) {
        return part(about);
    }

    @Override
    public List<String> run(CaseData data) {
        throw new IllegalStateException("not built yet");
    }
}
