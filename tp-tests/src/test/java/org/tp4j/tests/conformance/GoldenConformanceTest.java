package org.tp4j.tests.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tp4j.tests.BiasBeforeReduction;
import org.tp4j.tests.cuda.OnCuda;

/** The shipped reference vectors, tensor-parallel. */
class GoldenConformanceTest {
    static Path golden() {
        try {
            return Path.of(Objects.requireNonNull(GoldenConformanceTest.class.getResource("/golden/index.json"))
                            .toURI())
                    .getParent();
        } catch (URISyntaxException e) {
            throw new AssertionError(e);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4})
    void shouldPassEveryCase(int ranks) {
        Report report = Report.of(golden(), ranks);
        assertThat(report.lines().subList(0, report.lines().size() - 1))
                .isNotEmpty()
                .allMatch(line -> line.matches("PASS \\w+ T=" + ranks + " max error .*"));
        assertThat(report.failed()).isZero();
        assertThat(report.last()).endsWith(" passed, 0 failed, 0 skipped");
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4})
    void shouldPassEveryCaseOnDevices(int ranks) {
        OnCuda.device(3);
        Report report = Report.of("cuda", golden(), Runners.all(), ranks);
        assertThat(report.lines().subList(0, report.lines().size() - 1))
                .isNotEmpty()
                .allMatch(line -> line.matches("PASS \\w+ T=" + ranks + " max error .*"));
        assertThat(report.last()).endsWith(" passed, 0 failed, 0 skipped");
    }

    @Test
    void shouldFailWhenTheRowBiasIsAddedBeforeTheReduction() {
        List<CaseRunner> planted = List.of(new MlpCases(new BiasBeforeReduction()));
        Report report = Report.of(golden(), planted, 2);
        assertThat(report.lines())
                .anySatisfy(line -> assertThat(line)
                        .startsWith("FAIL mlp_gelu T=2 max error ")
                        .contains("column- then row-parallel: y differs by "));
        assertThat(report.lines()).anySatisfy(line -> assertThat(line).startsWith("PASS mlp_relu_nobias T=2 "));
        assertThat(report.failed()).isEqualTo(3); // the MLPs that have a bias
    }

    @Test
    void shouldNotFailOnOneRankForTheSameMistake() {
        assertThat(Report.of(golden(), List.of(new MlpCases(new BiasBeforeReduction())), 1)
                        .failed())
                .isZero();
    }
}
