package org.tp4j.tests.nccl;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tp4j.comm.CommunicationOptions;
import org.tp4j.tests.comm.Check;
import org.tp4j.tests.comm.CollectiveContract;
import org.tp4j.threads.ThreadRanks;

/**
 * The contract over NCCL, with ranks as threads that have a simulated device each; and through the host's memory. All checks
 * run in one job, since each job makes its communicators anew.
 */
@Timeout(120)
class NcclContractTest {
    @BeforeAll
    static void needsSimulator() {
        Simulator.assumeBuilt();
    }

    private static void run(int ranks, CommunicationOptions options, List<Check> checks) {
        List<Integer> passed = ThreadRanks.call("cuda", ranks, options, world -> {
            int count = 0;
            for (Check check : checks) {
                if (check.minRanks() <= ranks) {
                    try {
                        check.body().run(world);
                    } catch (Exception | Error e) {
                        throw new AssertionError("rank " + world.rank() + ", check '" + check + "': " + e, e);
                    }
                    count++;
                }
            }
            return count;
        });
        assertThat(passed).hasSize(ranks).allMatch(count -> count > 100 || checks.size() < 100);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4})
    void shouldKeepTheContract(int ranks) {
        run(ranks, Simulator.options(), CollectiveContract.checks());
    }

    @Test
    void shouldKeepTheContractInCheckingMode() {
        List<Check> checks = new ArrayList<>(CollectiveContract.agreement());
        // Each call is preceded by another then; that values of all types arrive has been seen above.
        CollectiveContract.checks().stream()
                .filter(check -> !check.name().contains(" of ") || check.name().contains("float32"))
                .forEach(checks::add);
        run(3, Simulator.options().withChecking(true), checks);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void shouldKeepTheContractThroughTheHost(int ranks) {
        List<Check> checks = Stream.concat(
                        CollectiveContract.checks().stream(), CollectiveContract.agreement().stream())
                .toList();
        CommunicationOptions host = Simulator.options().withEngine(CommunicationOptions.HOST);
        run(ranks, host.withAgreement(false), checks); // some disagree on purpose
    }
}
