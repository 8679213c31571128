package org.tp4j.examples.report;

import static org.tp4j.examples.report.Html.format;
import static org.tp4j.examples.report.Html.text;

import java.util.Arrays;
import java.util.List;

/**
 * A line chart as inline SVG, colored by CSS: follows light and dark mode, and shows values on hover.
 *
 * @param title text above the chart
 * @param xTitle title of the horizontal axis
 * @param y the vertical axis
 * @param series the lines, drawn in this order
 */
public record LineChart(String title, String xTitle, ValueAxis y, List<Series> series) {
    private static final int WIDTH = 520;
    private static final int HEIGHT = 300;
    private static final int LEFT = 52;
    private static final int RIGHT = 14;
    private static final int TOP = 12;
    private static final int BOTTOM = 42;

    /**
     * One line.
     *
     * @param name text in the legend
     * @param style CSS class: {@code main}, {@code faint} or {@code dashed}
     * @param x x values
     * @param y y values, as many as x values
     * @param marked whether each point has a marker that shows its value on hover
     */
    public record Series(String name, String style, double[] x, double[] y, boolean marked) {
        /** Checks that there are as many x values as y values. */
        public Series {
            if (x.length != y.length) {
                throw new IllegalArgumentException(
                        "series '" + name + "' has " + x.length + " x values and " + y.length + " y values");
            }
        }
    }

    /** The chart with its title and legend. */
    public String html() {
        StringBuilder html = new StringBuilder("<figure class=\"chart\"><figcaption>" + text(title) + "<span>");
        if (series.size() > 1) {
            for (Series line : series) {
                html.append("<i class=\"key ")
                        .append(line.style())
                        .append("\"></i>")
                        .append(text(line.name()));
            }
        }
        html.append("</span></figcaption>\n")
                .append(format(
                        "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"%s\">\n", WIDTH, HEIGHT, text(title)));
        double xMax =
                series.stream().flatMapToDouble(s -> Arrays.stream(s.x())).max().orElse(1);
        drawAxes(html, xMax);
        for (Series line : series) {
            drawLine(html, line, xMax);
        }
        for (Series line : series) {
            drawPoints(html, line, xMax);
        }
        return html.append("</svg></figure>\n").toString();
    }

    private void drawAxes(StringBuilder html, double xMax) {
        for (double tick : y.ticks()) {
            double at = yPixel(tick);
            html.append(format(
                    "<line class=\"grid\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/>", LEFT, WIDTH - RIGHT, at, at));
            html.append(format(
                    "<text class=\"tick end\" x=\"%d\" y=\"%.1f\">%s</text>\n", LEFT - 8, at + 4, y.label(tick)));
        }
        for (double tick : ValueAxis.linear(0, xMax).ticks()) {
            if (tick == Math.rint(tick)) {
                html.append(format(
                        "<text class=\"tick middle\" x=\"%.1f\" y=\"%d\">%.0f</text>\n",
                        xPixel(tick, xMax), HEIGHT - BOTTOM + 18, tick));
            }
        }
        html.append(format(
                "<line class=\"axis\" x1=\"%d\" x2=\"%d\" y1=\"%d\" y2=\"%d\"/>\n",
                LEFT, WIDTH - RIGHT, HEIGHT - BOTTOM, HEIGHT - BOTTOM));
        html.append(format(
                "<text class=\"tick middle\" x=\"%d\" y=\"%d\">%s</text>\n",
                (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 6, text(xTitle)));
    }

    private void drawLine(StringBuilder html, Series line, double xMax) {
        html.append("<polyline class=\"line ").append(line.style()).append("\" points=\"");
        for (int i = 0; i < line.x().length; i++) {
            html.append(format("%.1f,%.1f ", xPixel(line.x()[i], xMax), yPixel(line.y()[i])));
        }
        html.append("\"/>\n");
    }

    private void drawPoints(StringBuilder html, Series line, double xMax) {
        for (int i = 0; line.marked() && i < line.x().length; i++) {
            html.append(format(
                    "<circle class=\"point %s\" cx=\"%.1f\" cy=\"%.1f\" r=\"3.2\"><title>%s %s: %s</title></circle>\n",
                    line.style(),
                    xPixel(line.x()[i], xMax),
                    yPixel(line.y()[i]),
                    text(xTitle),
                    format("%.0f", line.x()[i]),
                    format("%.4f", line.y()[i])));
        }
    }

    private static double xPixel(double x, double xMax) {
        return LEFT + (WIDTH - LEFT - RIGHT) * x / Math.max(xMax, 1e-12);
    }

    private double yPixel(double value) {
        return HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * y.fraction(value);
    }
}
