package org.tp4j.planner;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Text in columns: numbers aligned right, all else left. Rows that differ only in the numbers of a name share a line. */
final class TextTable {
    private final String[] header;
    private final Map<List<String>, List<String>> namesOfRows = new LinkedHashMap<>();
    private final boolean[] numeric;

    /** @param header of the columns, the first of which holds dotted names */
    TextTable(String... header) {
        this.header = header;
        this.numeric = new boolean[header.length];
    }

    /** Adds a row. */
    void row(Object... cells) {
        List<String> texts = new ArrayList<>();
        for (int i = 0; i < cells.length; i++) {
            boolean number = cells[i] instanceof Number;
            numeric[i] |= number;
            texts.add(
                    number ? String.format(Locale.ROOT, "%,d", ((Number) cells[i]).longValue()) : cells[i].toString());
        }
        String name = texts.get(0);
        texts.set(0, name.replaceAll("(^|\\.)\\d+(?=\\.|$)", "$1*"));
        namesOfRows.computeIfAbsent(texts, t -> new ArrayList<>()).add(name);
    }

    /** Names that differ only in numbers as one name, with * where they differ. */
    private static String common(List<String> names) {
        String[] all = names.get(0).split("\\.", -1);
        for (String name : names) {
            String[] segments = name.split("\\.", -1);
            for (int i = 0; i < all.length; i++) {
                all[i] = all[i].equals(segments[i]) ? all[i] : "*";
            }
        }
        return String.join(".", all);
    }

    @Override
    public String toString() {
        List<List<String>> lines = new ArrayList<>();
        lines.add(List.of(header));
        namesOfRows.forEach((cells, names) -> {
            List<String> line = new ArrayList<>(cells);
            line.set(0, names.size() == 1 ? names.get(0) : common(names) + " (" + names.size() + " times)");
            lines.add(line);
        });
        int[] widths = new int[header.length];
        for (List<String> line : lines) {
            for (int i = 0; i < widths.length; i++) {
                widths[i] = Math.max(widths[i], line.get(i).length());
            }
        }
        StringBuilder text = new StringBuilder();
        for (List<String> line : lines) {
            StringBuilder row = new StringBuilder();
            for (int i = 0; i < widths.length; i++) {
                String pad = " ".repeat(widths[i] - line.get(i).length());
                row.append(i == 0 ? "" : "  ").append(numeric[i] ? pad + line.get(i) : line.get(i) + pad);
            }
            text.append(row.toString().stripTrailing()).append('\n');
        }
        return text.toString();
    }
}
