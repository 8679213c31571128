package org.tp4j.tests.run;

/** Counts outcomes. */
public final class Tally {
    private int passed;
    private int failed;
    private int skipped;

    /** Counts one. */
    public void add(Outcome outcome) {
        switch (outcome.status()) {
            case PASS -> passed++;
            case FAIL -> failed++;
            case SKIP -> skipped++;
        }
    }

    /** How many failed. */
    public int failed() {
        return failed;
    }

    /** The last line of a runner, which the scripts add up. */
    @Override
    public String toString() {
        return passed + " passed, " + failed + " failed, " + skipped + " skipped";
    }
}
