package org.tp4j.examples.doctor;

/**
 * One thing looked at.
 *
 * @param status how it is
 * @param name what was looked at
 * @param detail what was found
 * @param hint what would mend it, or empty
 */
record Finding(Status status, String name, String detail, String hint) {
    /** How a thing is. */
    enum Status {
        /** As it should be. */
        OK("ok"),
        /** Works, and could be better. */
        NOTE("note"),
        /** Not there; only what needs it does not work. */
        ABSENT("--"),
        /** Does not work though it should. */
        BROKEN("FAIL");

        private final String mark;

        Status(String mark) {
            this.mark = mark;
        }

        String mark() {
            return mark;
        }
    }

    static Finding ok(String name, String detail) {
        return new Finding(Status.OK, name, detail, "");
    }

    static Finding note(String name, String detail, String hint) {
        return new Finding(Status.NOTE, name, detail, hint);
    }

    static Finding absent(String name, String detail, String hint) {
        return new Finding(Status.ABSENT, name, detail, hint);
    }

    static Finding broken(String name, String detail, String hint) {
        return new Finding(Status.BROKEN, name, detail, hint);
    }
}
