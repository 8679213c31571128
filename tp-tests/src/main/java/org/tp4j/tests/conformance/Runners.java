package org.tp4j.tests.conformance;

import java.util.List;

/** All runners, the first that recognises a case runs it. */
public final class Runners {
    private Runners() {}

    /** One a kind. */
    public static List<CaseRunner> all() {
        return List.of(
                new LaterCases(),
                new MlpCases(),
                new OptimizerCases(),
                new ClippingCases(),
                new EmbeddingCases(),
                new CrossEntropyCases(),
                new StatisticsCases(),
                new NormCases(),
                new LinearCases(),
                new ElementwiseCases());
    }
}
