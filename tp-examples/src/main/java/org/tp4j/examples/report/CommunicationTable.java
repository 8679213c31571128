package org.tp4j.examples.report;

import static org.tp4j.examples.report.Html.format;
import static org.tp4j.examples.report.Html.text;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.tp4j.comm.record.CommunicationLog.Entry;

/** Tables of the collectives that a rank called. */
public final class CommunicationTable {
    private CommunicationTable() {}

    /**
     * Every call of a step, in order.
     *
     * @param phases calls by phase
     */
    public static String ofStep(Map<String, List<Entry>> phases) {
        List<List<String>> rows = new ArrayList<>();
        phases.forEach((phase, calls) -> {
            if (calls.isEmpty()) {
                rows.add(List.of(text(phase), "<span class=\"dim\">nothing</span>", "", "", "", "", "", ""));
            }
            for (Entry call : calls) {
                List<String> row = new ArrayList<>(List.of(text(phase)));
                row.addAll(cells(call));
                rows.add(row);
            }
        });
        return Html.table(
                List.of("phase", "collective", "operation", "module", "group", "type", "#elements", "#bytes"), rows);
    }

    /** One row per distinct call, with the number of such calls. */
    public static String totals(List<Entry> calls) {
        Map<Entry, Integer> counts = new LinkedHashMap<>();
        calls.forEach(call -> counts.merge(call, 1, Integer::sum));
        List<List<String>> rows = new ArrayList<>();
        counts.forEach((call, count) -> {
            List<String> row = new ArrayList<>(cells(call));
            row.add(format("%,d", count));
            row.add(format("%,d", count * call.bytes()));
            rows.add(row);
        });
        return Html.table(
                List.of(
                        "collective",
                        "operation",
                        "module",
                        "group",
                        "type",
                        "#elements",
                        "#bytes",
                        "#calls",
                        "#total bytes"),
                rows);
    }

    private static List<String> cells(Entry call) {
        return List.of(
                "<code>" + text(call.kind()) + "</code>",
                call.op() == null ? "" : call.op().name().toLowerCase(Locale.ROOT),
                call.modulePath().isEmpty() ? "" : "<code>" + text(call.modulePath()) + "</code>",
                text(call.group()) + " <span class=\"dim\">of " + call.groupSize() + "</span>",
                call.dtype() == null ? "" : text(call.dtype()),
                format("%,d", call.elements()),
                format("%,d", call.bytes()));
    }
}
