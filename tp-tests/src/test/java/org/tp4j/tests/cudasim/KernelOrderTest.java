package org.tp4j.tests.cudasim;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The kernels whose threads work together give the same results in whatever order the threads of a block and the blocks run.
 * A barrier that is missing among them shows in one order or another, though all may be well in the usual one.
 */
class KernelOrderTest {
    private static final String PACKAGE = "org.tp4j.tests.cuda.";

    @ParameterizedTest
    @ValueSource(strings = {"reverse", "shuffle"})
    void shouldNotDependOnTheOrderOfThreads(String order) {
        SimulatorProcess.Result result = SimulatorProcess.run(
                Map.of("CUSIM_ORDER", order),
                "suite",
                PACKAGE + "SoftmaxKernelsTest",
                PACKAGE + "NormKernelsTest",
                PACKAGE + "ReductionKernelsTest");
        assertThat(result.exitCode()).as(result.output()).isZero();
        assertThat(result.output()).contains(" tests passed, 0 failed");
    }
}
