package org.tp4j.tests.run;

import java.util.Locale;

/**
 * What came of one job.
 *
 * @param status whether it passed
 * @param error the largest error found; NaN where none was measured
 * @param detail what was run, or why it failed or was not run
 */
public record Outcome(Status status, double error, String detail) {
    /** Whether a job passed. */
    public enum Status {
        /** As it should be. */
        PASS,
        /** Not as it should be. */
        FAIL,
        /** Not run, for a reason. */
        SKIP
    }

    /** Passed, with the largest error that was found. */
    public static Outcome pass(double error, String detail) {
        return new Outcome(Status.PASS, error, detail);
    }

    /** Failed for a reason, without an error measured. */
    public static Outcome fail(String reason) {
        return new Outcome(Status.FAIL, Double.NaN, reason);
    }

    /** Failed because an error is too large. */
    public static Outcome fail(double error, String reason) {
        return new Outcome(Status.FAIL, error, reason);
    }

    /** Failed by an exception: its first line. */
    public static Outcome fail(Throwable thrown) {
        String message = thrown.getMessage();
        String first = message == null ? "" : message.lines().findFirst().orElse("");
        return fail(thrown.getClass().getSimpleName() + (first.isEmpty() ? "" : ": " + first));
    }

    /** Not run. */
    public static Outcome skip(String reason) {
        return new Outcome(Status.SKIP, Double.NaN, reason);
    }

    /** The error to three digits, {@code -} where none was measured. */
    public String errorText() {
        return Double.isNaN(error) ? "-" : error == 0 ? "0" : String.format(Locale.ROOT, "%.2e", error);
    }

    /** The line the runners print. */
    public String line(String name, int ranks) {
        String measured = status == Status.SKIP || Double.isNaN(error) ? "" : " max error " + errorText();
        String more = detail.isEmpty() ? "" : status == Status.PASS ? " (" + detail + ")" : ": " + detail;
        return status + " " + name + " T=" + ranks + measured + more;
    }
}
