package org.tp4j.comm.internal.control;

/** Text that came over the network, made fit for logs and messages. */
final class ForeignText {
    private static final int LONGEST = 4000;

    private ForeignText() {}

    /** Control characters, line separators and unpaired surrogates as {@code \\uXXXX}; at most 4000 characters. */
    static String escape(String text) {
        StringBuilder safe = null;
        int end = Math.min(text.length(), LONGEST);
        for (int i = 0; i < end; ) {
            int code = text.codePointAt(i);
            int next = i + Character.charCount(code);
            if (isUnsafe(code)) {
                safe = safe == null ? new StringBuilder(text.substring(0, i)) : safe;
                for (char c : Character.toChars(code)) {
                    safe.append(String.format("\\u%04x", (int) c));
                }
            } else if (safe != null) {
                safe.appendCodePoint(code);
            }
            i = next;
        }
        String result = safe == null ? text.substring(0, end) : safe.toString();
        return end < text.length() ? result + "..." : result;
    }

    private static boolean isUnsafe(int code) {
        return switch (Character.getType(code)) {
            case Character.CONTROL,
                    Character.FORMAT,
                    Character.LINE_SEPARATOR,
                    Character.PARAGRAPH_SEPARATOR,
                    Character.SURROGATE,
                    Character.UNASSIGNED -> true;
            default -> false;
        };
    }
}
