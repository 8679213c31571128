package org.tp4j.tests.gpu;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;

/**
 * What came of a stage.
 *
 * @param stage which
 * @param outcome how it ended
 * @param seconds how long it took
 * @param reason why it did not pass; empty if it did
 * @param figures the lines of JSON it printed, and its count of what passed
 * @param tail the last lines it printed
 */
record StageResult(
        Stage stage, Outcome outcome, double seconds, String reason, List<JsonNode> figures, List<String> tail) {
    /** How a stage ended. */
    enum Outcome {
        /** As it should. */
        PASSED,
        /** Not as it should. */
        FAILED,
        /** Its time was over. */
        TIMEOUT,
        /** What it needs is not on this machine, and need not be. */
        SKIPPED,
        /** The check's time was over before. */
        NO_TIME
    }

    StageResult {
        figures = List.copyOf(figures);
        tail = List.copyOf(tail);
    }

    static StageResult noTime(Stage stage, double left) {
        String reason =
                String.format(java.util.Locale.ROOT, "%.0f seconds were left, it needs %d", left, stage.leastSeconds());
        return new StageResult(stage, Outcome.NO_TIME, 0, reason, List.of(), List.of());
    }

    /** Whether the check as a whole can still pass. */
    boolean isGood() {
        return outcome == Outcome.PASSED || outcome == Outcome.SKIPPED;
    }
}
