package org.tp4j.examples.report;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;

/** Pieces of HTML, and the page around them: a single file that loads nothing, in light or dark as the browser prefers. */
public final class Html {
    private Html() {}

    /** Text escaped for HTML. */
    public static String text(Object value) {
        return String.valueOf(value)
                .replace("&", "&amp;")
                .replace("<", "&lt;")
                .replace(">", "&gt;")
                .replace("\"", "&quot;");
    }

    /** {@link String#format} in the root locale. */
    public static String format(String pattern, Object... values) {
        return String.format(Locale.ROOT, pattern, values);
    }

    /**
     * A table.
     *
     * @param head column titles; a leading {@code #} marks a column of numbers, aligned right
     * @param rows cells as HTML
     */
    public static String table(List<String> head, List<List<String>> rows) {
        StringBuilder html = new StringBuilder("<div class=\"scroll\"><table><thead><tr>");
        for (String title : head) {
            boolean number = title.startsWith("#");
            html.append(number ? "<th class=\"number\">" : "<th>")
                    .append(text(number ? title.substring(1) : title))
                    .append("</th>");
        }
        html.append("</tr></thead><tbody>\n");
        for (List<String> row : rows) {
            html.append("<tr>");
            for (int i = 0; i < row.size(); i++) {
                html.append(head.get(i).startsWith("#") ? "<td class=\"number\">" : "<td>")
                        .append(row.get(i))
                        .append("</td>");
            }
            html.append("</tr>\n");
        }
        return html.append("</tbody></table></div>\n").toString();
    }

    /** A section of the page: title, introduction as HTML, body. */
    public static String section(String title, String introduction, String body) {
        return "<section><h2>" + text(title) + "</h2>\n"
                + (introduction.isEmpty() ? "" : "<p class=\"lead\">" + introduction + "</p>\n") + body
                + "</section>\n";
    }

    /** The whole page. */
    public static String page(String title, String body) {
        return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                + "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                + "<meta name=\"color-scheme\" content=\"light dark\">\n<title>" + text(title) + "</title>\n<style>\n"
                + style() + "</style>\n</head>\n<body>\n<main>\n" + body + "</main>\n</body>\n</html>\n";
    }

    private static String style() {
        try (InputStream in = Html.class.getResourceAsStream("report.css")) {
            if (in == null) {
                throw new IllegalStateException("report.css is not on the class path; HINT: it is in tp-examples");
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
