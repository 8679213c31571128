package org.tp4j.checkpoint;

/**
 * Text from a file made safe for a message: in quotes, truncated, without characters that could forge log lines.
 */
final class Quoted {
    private static final int MAX_CHARS = 120;
    private static final int MAX_MESSAGE_CHARS = 300;

    private Quoted() {}

    /** A name or value, in quotes. */
    static String of(String text) {
        StringBuilder out = new StringBuilder("'");
        append(text, MAX_CHARS, out);
        out.append('\'');
        if (text.length() > MAX_CHARS) {
            out.append("... (").append(text.length()).append(" characters)");
        }
        return out.toString();
    }

    /** A parser's message, which may repeat parts of the text. */
    static String message(String text) {
        StringBuilder out = new StringBuilder();
        append(text.replaceAll("\\s+", " "), MAX_MESSAGE_CHARS, out);
        return out.toString();
    }

    private static void append(String text, int maxChars, StringBuilder out) {
        for (int i = 0; i < Math.min(text.length(), maxChars); i++) {
            char c = text.charAt(i);
            if (isPlain(c)) {
                out.append(c);
            } else {
                out.append(String.format("\\u%04x", (int) c));
            }
        }
    }

    private static boolean isPlain(char c) {
        return switch (Character.getType(c)) {
            case Character.CONTROL,
                    Character.FORMAT,
                    Character.LINE_SEPARATOR,
                    Character.PARAGRAPH_SEPARATOR,
                    Character.SURROGATE,
                    Character.UNASSIGNED,
                    Character.PRIVATE_USE -> false;
            default -> true;
        };
    }
}
