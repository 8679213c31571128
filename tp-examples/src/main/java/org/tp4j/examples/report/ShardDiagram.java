package org.tp4j.examples.report;

import static org.tp4j.examples.report.Html.format;
import static org.tp4j.examples.report.Html.text;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.tp4j.tensor.Region;
import org.tp4j.tensor.Shape;

/** Which rank holds which rows and columns of each parameter, drawn to scale; one color per rank. */
public final class ShardDiagram {
    private static final double LONGEST_SIDE = 168; // pixels of the largest dimension
    private static final double SHORTEST_SIDE = 11;
    private static final int COLORS = 8;

    private final List<ParameterShards> parameters;
    private final int ranks;
    private final double pixels;

    /** A diagram of these parameters on that many ranks. */
    public ShardDiagram(List<ParameterShards> parameters, int ranks) {
        this.parameters = parameters;
        this.ranks = ranks;
        long largest = parameters.stream()
                .flatMapToLong(p -> Arrays.stream(p.shape().toArray()))
                .max()
                .orElse(1);
        this.pixels = LONGEST_SIDE / Math.max(1, largest);
    }

    /** The CSS color of a rank. */
    public static String color(int rank) {
        return rank < COLORS ? "var(--rank-" + rank + ")" : format("hsl(%d 50%% 45%%)", rank * 137 % 360);
    }

    /** The color of each rank. */
    public String legend() {
        StringBuilder html = new StringBuilder("<p class=\"legend\">");
        for (int rank = 0; rank < ranks; rank++) {
            html.append(format("<i class=\"swatch\" style=\"background:%s\"></i>rank %d", color(rank), rank));
        }
        return html.append("<i class=\"swatch whole\"></i>whole, on every rank</p>\n")
                .toString();
    }

    /** One card per module, sharded modules first; repeated modules are drawn once. */
    public String html() {
        StringBuilder html = new StringBuilder();
        Map<String, List<ParameterShards>> modules = ParameterShards.byPattern(parameters);
        for (boolean sharded : new boolean[] {true, false}) {
            html.append("<div class=\"cards\">\n");
            modules.forEach((pattern, own) -> {
                if (sharded == own.stream().anyMatch(p -> p.shardedDim() >= 0)) {
                    html.append(card(pattern, own));
                }
            });
            html.append("</div>\n");
        }
        return html.toString();
    }

    private String card(String pattern, List<ParameterShards> own) {
        long repeats = ParameterShards.repeats(parameters, own.get(0));
        StringBuilder html = new StringBuilder(format(
                "<div class=\"card\"><h3>%s%s</h3>\n<div class=\"matrices\">\n",
                text(pattern), repeats > 1 ? " <small>&times; " + repeats + "</small>" : ""));
        for (ParameterShards parameter : own) {
            html.append(format(
                    "<figure>%s<figcaption>%s<br><small>%s<br>%s</small></figcaption></figure>\n",
                    drawing(parameter),
                    text(parameter.ownName()),
                    text(parameter.shape()),
                    text(parameter.placement())));
        }
        return html.append("</div></div>\n").toString();
    }

    private double size(long elements) {
        return Math.max(SHORTEST_SIDE, elements * pixels);
    }

    /** Rows go down, columns to the right; a vector is a column. */
    private String drawing(ParameterShards parameter) {
        Shape shape = parameter.shape();
        double height = size(shape.dims() == 0 ? 1 : shape.size(0));
        double width = size(shape.dims() < 2 ? 1 : shape.product(1, shape.dims()));
        StringBuilder svg = new StringBuilder(format(
                "<svg class=\"matrix\" width=\"%.0f\" height=\"%.0f\" viewBox=\"-1 -1 %.1f %.1f\" role=\"img\""
                        + " aria-label=\"%s\">\n",
                width + 2, height + 2, width + 2, height + 2, text(parameter.name() + " " + parameter.placement())));
        int dim = parameter.shardedDim();
        if (dim < 0) {
            svg.append(format(
                    "<rect class=\"whole\" width=\"%.1f\" height=\"%.1f\"><title>whole on every rank</title></rect>",
                    width, height));
        }
        for (int rank = 0; dim >= 0 && rank < ranks; rank++) {
            Region region = parameter.regions().get(rank);
            double begin = (double) region.offsets()[dim] / shape.size(dim);
            double share = (double) region.local().size(dim) / shape.size(dim);
            double x = dim == 0 ? 0 : begin * width;
            double y = dim == 0 ? begin * height : 0;
            double w = dim == 0 ? width : share * width;
            double h = dim == 0 ? share * height : height;
            if (share == 0) {
                continue;
            }
            svg.append(format(
                    "<rect class=\"part\" style=\"fill:%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\">"
                            + "<title>rank %d: %s</title></rect>",
                    color(rank), x, y, w, h, rank, parameter.range(rank)));
            if (w > 12 && h > 12) {
                svg.append(format(
                        "<text class=\"on-rank\" x=\"%.1f\" y=\"%.1f\">%d</text>\n", x + w / 2, y + h / 2 + 4, rank));
            }
        }
        return svg.append("</svg>").toString();
    }
}
