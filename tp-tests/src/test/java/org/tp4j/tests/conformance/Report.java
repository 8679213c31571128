package org.tp4j.tests.conformance;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.tp4j.tests.run.RankOptions;

/** The output of the runner. */
record Report(int failed, List<String> lines) {
    static Report of(Path folder, Integer... ranks) {
        return of(folder, Runners.all(), ranks);
    }

    static Report of(Path folder, List<CaseRunner> runners, Integer... ranks) {
        return of("cpu", folder, runners, ranks);
    }

    static Report of(String device, Path folder, List<CaseRunner> runners, Integer... ranks) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        PrintStream out = new PrintStream(bytes, true, StandardCharsets.UTF_8);
        int failed = ConformanceMain.run(folder, RankOptions.of("threads", device, ranks), runners, out);
        return new Report(failed, bytes.toString(StandardCharsets.UTF_8).lines().toList());
    }

    String last() {
        return lines.get(lines.size() - 1);
    }
}
