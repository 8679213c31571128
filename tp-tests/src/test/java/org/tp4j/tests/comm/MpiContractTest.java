package org.tp4j.tests.comm;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The contract, with ranks as processes over MPI; plain and in checking mode. */
@Timeout(300)
class MpiContractTest {
    @BeforeAll
    static void needsMpi() {
        MpiRun.assumeAvailable();
    }

    @ParameterizedTest(name = "{0} ranks, checking: {1}")
    @CsvSource({"1, false", "2, false", "3, false", "4, false", "3, true"})
    void shouldKeepTheContract(int ranks, boolean checking) throws Exception {
        long expected = CollectiveContract.checks().stream()
                        .filter(check -> check.minRanks() <= ranks)
                        .count()
                + (checking ? CollectiveContract.agreement().size() : 0);
        MpiRun.Result result = new MpiRun(ranks, ContractMain.class)
                .jvm(
                        "-Dtp4j.checking=" + checking,
                        "-Dtp4j.agreement="
                                + (checking ? "off" : "on"), // the former has ranks that disagree on purpose
                        "-Dtp4j.comm.timeoutSeconds=60")
                .limitSeconds(240)
                .run();
        assertThat(result.output()).contains(expected + " checks passed");
        assertThat(result.exitCode()).isZero();
    }
}
