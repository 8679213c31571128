package org.tp4j.layout;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.StringJoiner;
import java.util.TreeMap;
import java.util.TreeSet;
import org.tp4j.layout.Placement.Partial;
import org.tp4j.tensor.Region;
import org.tp4j.tensor.Shape;

/**
 * A picture of which rank holds what, for documents and reports.
 *
 * <pre>
 * [5, 4] laid out [tp: Shard(0)] on (tp=4)
 * dim 0 down, dim 1 across
 *         0..3
 *       +------+
 * 0..1  | r0   |
 *       +------+
 * 2..3  | r1   |
 *       +------+
 * 4     | r2   |
 *       +------+
 * nothing on r3
 * </pre>
 *
 * <p>Ranks are numbered along the mesh, the last axis fastest. {@code r0,r1} hold copies; {@code r0 + r1} hold the terms of
 * a pending sum ({@code r0 max r1} those of another pending reduction). A tensor that is cut along more than two dimensions
 * is listed instead, one line per rank.
 */
public final class LayoutPicture {
    private final Shape shape;
    private final Layout layout;
    private final int[][] coordinates;
    private final Region[] regions;

    private LayoutPicture(Shape shape, Layout layout) {
        this.shape = shape;
        this.layout = layout;
        int[] sizes = layout.mesh().axes().stream().mapToInt(a -> a.size()).toArray();
        int ranks = layout.mesh().size();
        this.coordinates = new int[ranks][sizes.length];
        this.regions = new Region[ranks];
        for (int rank = 0; rank < ranks; rank++) {
            int rest = rank;
            for (int a = sizes.length - 1; a >= 0; a--) {
                coordinates[rank][a] = rest % sizes[a];
                rest /= sizes[a];
            }
            regions[rank] = layout.regionOf(shape, coordinates[rank]);
        }
    }

    /**
     * The picture of a tensor.
     *
     * @param shape of the whole tensor
     * @param layout its layout
     * @throws IllegalArgumentException if the layout is not one of tensors of this shape
     */
    public static String of(Shape shape, Layout layout) {
        return new LayoutPicture(shape, layout).draw();
    }

    private String draw() {
        StringBuilder text = new StringBuilder();
        text.append(shape).append(" laid out ").append(layout);
        text.append(" on ").append(layout.mesh()).append('\n');
        List<Integer> cut = new ArrayList<>();
        for (int d = 0; d < shape.dims(); d++) {
            if (!layout.cutsOf(d).isEmpty()) {
                cut.add(d);
            }
        }
        if (shape.elements() == 0) {
            return text.append("there are no elements\n").toString();
        }
        if (cut.size() > 2) {
            return list(text);
        }
        for (int d = shape.dims() - 1; d >= 0 && cut.size() < 2; d--) {
            if (!cut.contains(d)) {
                cut.add(d);
            }
        }
        cut.sort(null);
        int down = cut.size() == 2 ? cut.get(0) : -1;
        int across = cut.isEmpty() ? -1 : cut.get(cut.size() - 1);
        if (down >= 0) {
            text.append("dim ")
                    .append(down)
                    .append(" down, dim ")
                    .append(across)
                    .append(" across\n");
        }
        grid(text, down, across);
        List<Integer> idle = new ArrayList<>();
        for (int rank = 0; rank < regions.length; rank++) {
            if (regions[rank].local().elements() == 0) {
                idle.add(rank);
            }
        }
        return text.append(idle.isEmpty() ? "" : "nothing on " + ranks(idle) + "\n")
                .toString();
    }

    private String list(StringBuilder text) {
        for (int rank = 0; rank < regions.length; rank++) {
            Region region = regions[rank];
            StringJoiner box = new StringJoiner(", ", "[", "]");
            for (int d = 0; d < shape.dims(); d++) {
                box.add(range(
                        region.offsets()[d],
                        region.offsets()[d] + region.local().size(d)));
            }
            boolean empty = region.local().elements() == 0;
            text.append('r')
                    .append(rank)
                    .append(": ")
                    .append(empty ? "nothing" : box)
                    .append('\n');
        }
        return text.toString();
    }

    private void grid(StringBuilder text, int down, int across) {
        long[] rows = boundaries(down);
        long[] columns = boundaries(across);
        String[][] cells = new String[rows.length - 1][columns.length - 1];
        int[] widths = new int[columns.length - 1];
        int label = 0;
        for (int i = 0; i < cells.length; i++) {
            label = Math.max(label, down < 0 ? 0 : range(rows[i], rows[i + 1]).length() + 2);
            for (int j = 0; j < widths.length; j++) {
                cells[i][j] = holders(down, rows[i], across, columns[j]);
                widths[j] = Math.max(widths[j], cells[i][j].length());
                widths[j] =
                        Math.max(widths[j], range(columns[j], columns[j + 1]).length());
            }
        }
        StringBuilder head = new StringBuilder(" ".repeat(label));
        StringBuilder line = new StringBuilder(" ".repeat(label)).append('+');
        for (int j = 0; j < widths.length; j++) {
            head.append("  ").append(pad(across < 0 ? "" : range(columns[j], columns[j + 1]), widths[j] + 1));
            line.append("-".repeat(widths[j] + 2)).append('+');
        }
        text.append(head.toString().stripTrailing())
                .append(across < 0 ? "" : "\n")
                .append(line)
                .append('\n');
        for (int i = 0; i < cells.length; i++) {
            text.append(pad(down < 0 ? "" : range(rows[i], rows[i + 1]), label)).append('|');
            for (int j = 0; j < widths.length; j++) {
                text.append(' ').append(pad(cells[i][j], widths[j])).append(" |");
            }
            text.append('\n').append(line).append('\n');
        }
    }

    /** Where pieces begin or end along a dimension; a missing dimension counts as one piece. */
    private long[] boundaries(int dim) {
        if (dim < 0) {
            return new long[] {0, 1};
        }
        TreeSet<Long> places = new TreeSet<>(List.of(0L, shape.size(dim)));
        for (Region region : regions) {
            places.add(region.offsets()[dim]);
            places.add(region.offsets()[dim] + region.local().size(dim));
        }
        return places.stream().mapToLong(Long::longValue).toArray();
    }

    /** Who holds a cell: copies listed, terms of a pending reduction joined. */
    private String holders(int down, long row, int across, long column) {
        Map<List<Integer>, List<Integer>> terms = new TreeMap<>((a, b) -> Arrays.compare(
                a.stream().mapToInt(i -> i).toArray(),
                b.stream().mapToInt(i -> i).toArray()));
        for (int rank = 0; rank < regions.length; rank++) {
            if (covers(rank, down, row) && covers(rank, across, column)) {
                List<Integer> term = new ArrayList<>();
                for (int a = 0; a < coordinates[rank].length; a++) {
                    term.add(layout.placement(a) instanceof Partial ? coordinates[rank][a] : 0);
                }
                terms.computeIfAbsent(term, t -> new ArrayList<>()).add(rank);
            }
        }
        StringJoiner text = new StringJoiner(joined());
        terms.values().forEach(copies -> text.add(ranks(copies)));
        return text.toString();
    }

    /** The sign between the terms of a pending reduction. */
    private String joined() {
        for (Placement placement : layout.placements()) {
            if (placement instanceof Partial pending && !pending.isPartialSum()) {
                return " " + pending.op().name().toLowerCase(Locale.ROOT) + " ";
            }
        }
        return " + ";
    }

    private boolean covers(int rank, int dim, long at) {
        if (dim < 0) {
            return true;
        }
        Region region = regions[rank];
        long begin = region.offsets()[dim];
        return region.local().elements() > 0
                && begin <= at
                && at < begin + region.local().size(dim);
    }

    /** Ranks as {@code r0,r2} or, three or more in a row, {@code r0..r3}. */
    private static String ranks(List<Integer> all) {
        StringJoiner text = new StringJoiner(",");
        for (int i = 0; i < all.size(); ) {
            int end = i;
            while (end + 1 < all.size() && all.get(end + 1) == all.get(end) + 1) {
                end++;
            }
            if (end - i >= 2) {
                text.add("r" + all.get(i) + "..r" + all.get(end));
                i = end + 1;
            } else {
                text.add("r" + all.get(i));
                i++;
            }
        }
        return text.toString();
    }

    /** From begin to before end, both shown: {@code 0..3}, or {@code 4} for one. */
    private static String range(long begin, long end) {
        return end - begin == 1 ? Long.toString(begin) : begin + ".." + (end - 1);
    }

    private static String pad(String text, int width) {
        return text + " ".repeat(width - text.length());
    }
}
