package org.tp4j.examples.report;

import static org.tp4j.examples.report.Html.format;
import static org.tp4j.examples.report.Html.text;

import org.tp4j.examples.mlp.MlpSettings;

/** How all ranks run one block, drawn from left to right: one lane per rank between f and g. */
final class BlockDiagram {
    private static final int WIDTH = 1030;
    private static final int LANE = 46;
    private static final int GAP = 10;
    private static final int TOP = 26;
    private static final int MAX_LANES = 8;

    private final ParameterShards up;
    private final ParameterShards down;
    private final int ranks;
    private final int batch;
    private final StringBuilder svg = new StringBuilder();

    /**
     * A diagram of a block.
     *
     * @param up weight of the column-parallel layer
     * @param down weight of the row-parallel layer
     * @param ranks number of ranks
     * @param batch rows of the block's input
     */
    BlockDiagram(ParameterShards up, ParameterShards down, int ranks, int batch) {
        this.up = up;
        this.down = down;
        this.ranks = ranks;
        this.batch = batch;
    }

    String html() {
        int lanes = Math.min(ranks, MAX_LANES);
        int height = TOP + lanes * (LANE + GAP) + (ranks > lanes ? 22 : 0) + 34;
        double middle = TOP + (lanes * (LANE + GAP) - GAP) / 2.0;
        svg.append(format(
                "<div class=\"scroll\"><svg class=\"flow\" viewBox=\"0 0 %d %d\" role=\"img\""
                        + " aria-label=\"how all ranks run a block\">\n",
                WIDTH, height));
        box("plain", 4, middle, 108, "norm(x)", "[" + batch + ", " + MlpSettings.WIDTH + "]");
        gate(158, middle, "f", "forward: identity", "backward: all-reduce", height);
        gate(822, middle, "g", "forward: all-reduce", "backward: identity", height);
        box("plain", 898, middle, 126, "x + sum + bias", "[" + batch + ", " + MlpSettings.WIDTH + "]");
        wire(112, middle, 142, middle);
        wire(838, middle, 898, middle);
        for (int rank = 0; rank < lanes; rank++) {
            double y = TOP + rank * (LANE + GAP) + LANE / 2.0;
            lane(rank, y);
            wire(174, middle, 226, y);
            wire(762, y, 806, middle);
        }
        if (ranks > lanes) {
            note(494, TOP + lanes * (LANE + GAP) + 10, "and " + (ranks - lanes) + " more ranks");
        }
        note(494, 14, "ranks work independently, no communication");
        return svg.append("</svg></div>\n").toString();
    }

    private void lane(int rank, double y) {
        long features = up.regions().get(rank).local().size(0);
        String color = ShardDiagram.color(rank);
        shard(226, y, 200, color, "rank " + rank + ": up_proj", up.range(rank));
        wire(426, y, 440, y);
        box("plain", 440, y, 108, "gelu, dropout", "[" + batch + ", " + features + "]");
        wire(548, y, 562, y);
        shard(562, y, 200, color, "rank " + rank + ": down_proj", down.range(rank));
    }

    private void shard(double x, double y, double width, String color, String first, String second) {
        svg.append(format(
                "<rect style=\"fill:%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\" rx=\"6\"/>",
                color, x, y - LANE / 2.0, width, LANE));
        svg.append(format("<text class=\"on\" x=\"%.1f\" y=\"%.1f\">%s</text>", x + width / 2, y - 4, text(first)));
        svg.append(format("<text class=\"on\" x=\"%.1f\" y=\"%.1f\">%s</text>\n", x + width / 2, y + 13, text(second)));
    }

    private void box(String style, double x, double y, double width, String first, String second) {
        svg.append(format(
                "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\" rx=\"6\"/>",
                style, x, y - LANE / 2.0, width, LANE));
        svg.append(format("<text x=\"%.1f\" y=\"%.1f\">%s</text>", x + width / 2, y - 3, text(first)));
        note(x + width / 2, y + 14, second);
    }

    private void gate(double x, double y, String name, String forward, String backward, int height) {
        svg.append(format("<circle class=\"gate\" cx=\"%.1f\" cy=\"%.1f\" r=\"16\"/>", x, y));
        svg.append(format("<text x=\"%.1f\" y=\"%.1f\" font-style=\"italic\">%s</text>\n", x, y + 4, name));
        note(x, height - 22, forward);
        note(x, height - 7, backward);
    }

    private void note(double x, double y, String text) {
        svg.append(format("<text class=\"note\" x=\"%.1f\" y=\"%.1f\">%s</text>\n", x, y, Html.text(text)));
    }

    private void wire(double x1, double y1, double x2, double y2) {
        double bend = (x1 + x2) / 2;
        svg.append(format(
                "<path class=\"wire\" d=\"M%.1f %.1fC%.1f %.1f %.1f %.1f %.1f %.1f\"/>\n",
                x1, y1, bend, y1, bend, y2, x2, y2));
    }
}
