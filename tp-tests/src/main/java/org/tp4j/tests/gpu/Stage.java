package org.tp4j.tests.gpu;

import java.util.List;

/**
 * One part of the check: a process that answers one question.
 *
 * @param name what it is called, unique
 * @param limitSeconds it is ended after that time
 * @param leastSeconds it is not begun with less time left
 * @param background whether it runs beside those that follow, until the first that awaits it
 * @param awaits name of a background stage that must be over first; empty for none
 * @param command program and arguments
 */
record Stage(String name, int limitSeconds, int leastSeconds, boolean background, String awaits, List<String> command) {
    Stage {
        command = List.copyOf(command);
        if (leastSeconds > limitSeconds) {
            throw new IllegalArgumentException(
                    name + " needs " + leastSeconds + " seconds and is given " + limitSeconds);
        }
    }

    static Stage of(String name, int limitSeconds, int leastSeconds, List<String> command) {
        return new Stage(name, limitSeconds, leastSeconds, false, "", command);
    }

    /** The same, beside those that follow. */
    Stage inBackground() {
        return new Stage(name, limitSeconds, leastSeconds, true, awaits, command);
    }

    /** The same, after a background stage is over or ended. */
    Stage awaiting(String other) {
        return new Stage(name, limitSeconds, leastSeconds, background, other, command);
    }

    /** The same with more arguments. */
    Stage with(String argument) {
        List<String> more = new java.util.ArrayList<>(command);
        more.add(argument);
        return new Stage(name, limitSeconds, leastSeconds, background, awaits, more);
    }
}
