package org.tp4j.examples.doctor;

/**
 * The result of one check.
 *
 * @param status the outcome
 * @param name what was checked
 * @param detail what was found
 * @param hint what would fix it, or empty
 */
record Finding(Status status, String name, String detail, String hint) {
    /** The outcome of a check. */
    enum Status {
        /** Works. */
        OK("ok"),
        /** Works, but could be better. */
        NOTE("note"),
        /** Missing; only what needs it does not work. */
        ABSENT("--"),
        /** Should work, but does not. */
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
