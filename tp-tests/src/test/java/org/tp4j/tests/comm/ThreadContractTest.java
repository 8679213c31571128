package org.tp4j.tests.comm;

import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.tp4j.comm.CommunicationOptions;
import org.tp4j.threads.ThreadRanks;

/** The contract, with ranks as threads; once plain and once in checking mode. */
@Timeout(120)
class ThreadContractTest {
    private static final CommunicationOptions PLAIN =
            CommunicationOptions.fromSystem().withTimeoutMs(60_000);

    static Stream<Arguments> checks() {
        return checks(IntStream.rangeClosed(1, 4));
    }

    /** Each call is preceded by another then; two sizes show that both get along. */
    static Stream<Arguments> someChecks() {
        return checks(IntStream.of(2, 3));
    }

    private static Stream<Arguments> checks(IntStream sizes) {
        List<Check> all = Stream.concat(CollectiveContract.checks().stream(), CollectiveContract.agreement().stream())
                .toList();
        return sizes.boxed()
                .flatMap(ranks -> all.stream()
                        .filter(check -> check.minRanks() <= ranks)
                        .map(check -> Arguments.of(ranks, check)));
    }

    /** Ranks that disagree on purpose, and go on, would be told at their end. */
    private static CommunicationOptions options(Check check) {
        boolean disagrees = CollectiveContract.agreement().stream()
                .anyMatch(one -> one.name().equals(check.name()));
        return PLAIN.withAgreement(!disagrees);
    }

    @ParameterizedTest(name = "{0} ranks: {1}")
    @MethodSource("checks")
    void shouldKeepTheContract(int ranks, Check check) {
        ThreadRanks.run(ranks, options(check), check.body()::run);
    }

    @ParameterizedTest(name = "{0} ranks, checking: {1}")
    @MethodSource("someChecks")
    void shouldKeepTheContractInCheckingMode(int ranks, Check check) {
        ThreadRanks.run(ranks, options(check).withChecking(true), check.body()::run);
    }
}
