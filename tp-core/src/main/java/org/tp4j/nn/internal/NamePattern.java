package org.tp4j.nn.internal;

import java.util.Collection;

/**
 * A pattern of dotted names in which {@code *} stands for one whole segment: {@code layers.*.mlp.up_proj} matches
 * {@code layers.0.mlp.up_proj} and {@code layers.10.mlp.up_proj}, but not {@code layers.0.mlp}. Only the empty pattern
 * matches the outermost module, whose name is empty.
 */
public final class NamePattern {
    private final String text;
    private final String[] segments;

    private NamePattern(String text) {
        this.text = text;
        this.segments = text.split("\\.", -1);
    }

    /** Parses a pattern. */
    public static NamePattern of(String text) {
        return new NamePattern(text);
    }

    /** Whether the whole name matches the pattern. */
    public boolean matches(String name) {
        String[] parts = name.split("\\.", -1);
        boolean fits = parts.length == segments.length;
        for (int i = 0; fits && i < parts.length; i++) {
            fits = segments[i].equals("*") ? !parts[i].isEmpty() : segments[i].equals(parts[i]);
        }
        return fits;
    }

    /** The name closest to the pattern, for messages; empty if there are no names. */
    public String nearest(Collection<String> names) {
        String best = "";
        int least = Integer.MAX_VALUE;
        for (String name : names) {
            int distance = distance(text, name);
            if (distance < least) {
                least = distance;
                best = name;
            }
        }
        return best;
    }

    /** Levenshtein distance: the fewest characters to insert, delete or change. */
    private static int distance(String a, String b) {
        int[] row = new int[b.length() + 1];
        for (int j = 0; j <= b.length(); j++) {
            row[j] = j;
        }
        for (int i = 1; i <= a.length(); i++) {
            int diagonal = row[0];
            row[0] = i;
            for (int j = 1; j <= b.length(); j++) {
                int change = diagonal + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
                diagonal = row[j];
                row[j] = Math.min(change, Math.min(row[j], row[j - 1]) + 1);
            }
        }
        return row[b.length()];
    }

    @Override
    public String toString() {
        return text;
    }
}
