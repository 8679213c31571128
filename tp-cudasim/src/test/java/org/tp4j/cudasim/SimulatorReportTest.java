package org.tp4j.cudasim;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SimulatorReportTest {
    @Test
    void whatWasNotReleasedIsReported(@TempDir Path folder) throws IOException {
        Path report = folder.resolve("report");
        SimulatorProcess.Result result =
                SimulatorProcess.run(Map.of("CUSIM_LEAKS", "fatal", "CUSIM_REPORT", report.toString()), "leak", "2");
        assertThat(result.exitCode()).isEqualTo(86);
        assertThat(result.output())
                .contains("[cudasim] leak: device 2: 2 allocations of device memory not released, 1024 bytes")
                .contains("[cudasim] leak: device 2: 1 allocations of pinned memory not released, 4096 bytes")
                .contains("[cudasim] leak: device 2: 1 streams not released")
                .contains("[cudasim] leak: device 2: 1 events not released")
                .contains("[cudasim] leak: device 2: 1 modules not released")
                .contains("[cudasim] leak: device 2: 1 graphs not released")
                .contains("[cudasim] leak: device 2: 1 graph execs not released")
                .contains("[cudasim] leak: device 2: 1 cuBLAS handles not released")
                .doesNotContain("leak: device 0", "leak: device 1");
        assertThat(Files.readAllLines(report))
                .contains("2\tallocations of device memory\t2\t1024", "2\tstreams\t1\t0", "0\tstreams\t0\t0")
                .contains("2\tcontext references\t1\t0");
    }

    @Test
    void aLeakAloneChangesNoExitCode() {
        SimulatorProcess.Result result = SimulatorProcess.run(Map.of(), "leak", "0");
        assertThat(result.exitCode()).isZero();
        assertThat(result.output()).contains("leak: device 0: 1 streams not released");
    }

    @Test
    void whoReleasesAllIsNotAccused() {
        SimulatorProcess.Result result = SimulatorProcess.run(Map.of("CUSIM_LEAKS", "fatal"), "clean");
        assertThat(result.exitCode()).as(result.output()).isZero();
        assertThat(result.output()).contains("finished").doesNotContain("leak");
    }

    @Test
    void theTraceHoldsEveryOperationInItsStream(@TempDir Path folder) throws IOException {
        Path trace = folder.resolve("trace");
        assertThat(SimulatorProcess.run(Map.of("CUSIM_TRACE", trace.toString()), "trace")
                        .output())
                .contains("y=12.0");
        List<String> lines = Files.readAllLines(trace).stream()
                .filter(line -> !line.contains("cuMemcpy"))
                .map(line -> line.substring(line.indexOf('\t') + 1).replaceAll("\t\\d+$", "\tE"))
                .toList();
        assertThat(lines)
                .containsExactly(
                        "0\t1\trun\tkernel\tscale",
                        "0\t1\trun\trecord\tE",
                        "0\t2\trun\twait\tE",
                        "0\t2\trun\tset\tcuMemsetD32Async 16",
                        "0\t1\tcapture\trecord\tE",
                        "0\t2\tcapture\twait\tE",
                        "0\t2\tcapture\tkernel\tscale",
                        "0\t2\tcapture\trecord\tE",
                        "0\t1\tcapture\twait\tE",
                        "0\t1\trun\tgraph\tlaunch");
    }
}
