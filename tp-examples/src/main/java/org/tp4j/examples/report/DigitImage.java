package org.tp4j.examples.report;

import static org.tp4j.examples.report.Html.format;
import static org.tp4j.examples.report.Html.text;

/** A small square grayscale image as inline SVG, its ink in the text color. */
public final class DigitImage {
    private DigitImage() {}

    /**
     * The image above its caption.
     *
     * @param ink ink of each pixel, 0 to 1, row by row
     * @param caption text below the image
     */
    public static String figure(float[] ink, String caption) {
        int side = (int) Math.round(Math.sqrt(ink.length));
        StringBuilder svg = new StringBuilder(format(
                "<figure><svg class=\"pixels\" viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"%s\">",
                side, side, text(caption)));
        for (int i = 0; i < ink.length; i++) {
            if (ink[i] > 0) {
                svg.append(format(
                        "<rect x=\"%d\" y=\"%d\" width=\"1.02\" height=\"1.02\" opacity=\"%.2f\"/>",
                        i % side, i / side, ink[i]));
            }
        }
        return svg + "</svg><figcaption>" + text(caption) + "</figcaption></figure>\n";
    }
}
