package org.tp4j.examples.report;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.tp4j.examples.cli.CommandResult;
import org.tp4j.examples.cli.mlp.MlpMain;

/** The report as the command writes it, after one epoch on two ranks. */
class MlpReportTest {
    @TempDir
    private static Path folder;

    private static String report;

    @BeforeAll
    static void trainOneEpoch() throws Exception {
        Path html = folder.resolve("r.html");
        CommandResult result =
                CommandResult.of(() -> MlpMain.run("--epochs", "1", "--check", "--report", html.toString()));
        assertThat(result.code()).as(result.toString()).isZero();
        report = Files.readString(html);
    }

    @Test
    void shouldLoadNothing() {
        assertThat(report)
                .startsWith("<!DOCTYPE html>")
                .doesNotContain("<script", "src=", "@import", "url(", "http")
                .contains("prefers-color-scheme: dark");
    }

    @Test
    void shouldShowCurvesShardsPlanAndParity() {
        assertThat(report)
                .contains("Training loss", "Accuracy on held-out images", "T = 1")
                .contains("rank 0: rows 0-127", "rank 1: columns 128-255")
                .contains("\"blocks.*.up_proj\", new ColwiseParallel()", "new RowwiseParallel()")
                .contains("equal up to rounding")
                .contains("CC BY 4.0");
    }

    @Test
    void shouldListOneAllReducePerBlockAndDirection() {
        String step = stepTable();
        String sizes = "<td class=\"number\">4,096</td><td class=\"number\">16,384</td>";
        for (String row : List.of(
                "<td>forward</td>%s<code>blocks.0.down_proj</code>",
                "<td>forward</td>%s<code>blocks.1.down_proj</code>",
                "<td>backward</td>%s<code>blocks.1.up_proj</code>",
                "<td>backward</td>%s<code>blocks.0.up_proj</code>")) {
            String begin = row.formatted("<td><code>allReduce</code></td><td>sum</td><td>");
            assertThat(step)
                    .contains(begin + "</td><td>tp <span class=\"dim\">of 2</span></td><td>float32</td>" + sizes);
        }
        assertThat(step.split("allReduce", -1)).hasSize(5);
    }

    private static String stepTable() {
        return report.substring(report.indexOf("<h2>Communication"), report.indexOf("The whole training"));
    }

    @Test
    void shouldBeWellFormed() throws Exception {
        String body = report.substring(report.indexOf("<main>"), report.indexOf("</main>") + 7)
                .replace("&times;", "x")
                .replaceAll("<br>", "<br/>");
        DocumentBuilderFactory.newInstance()
                .newDocumentBuilder()
                .parse(new ByteArrayInputStream(body.getBytes(StandardCharsets.UTF_8)));
    }
}
