package org.tp4j.tests.autograd.program;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.tp4j.tests.oracle.Ranks;

/** Random programs over random layouts: a step is refused, or values and every gradient are those of one rank. */
class ProgramFuzzTest {
    private static final int PROGRAMS = Integer.getInteger("tp.fuzz.programs", 300);
    private static final long SEED = Long.getLong("tp.seed", 1);

    static Stream<List<Integer>> meshes() {
        return Stream.of(List.of(1), List.of(2), List.of(3), List.of(4), List.of(2, 2), List.of(3, 2));
    }

    @ParameterizedTest
    @MethodSource("meshes")
    void shouldRefuseOrEqualOneRank(List<Integer> mesh) {
        AtomicInteger worthIt = new AtomicInteger();
        Map<String, int[]> counts = new TreeMap<>();
        Ranks.run(mesh, rank -> {
            for (int i = 0; i < PROGRAMS; i++) {
                Program program = new Program(rank, SEED * 1_000_003 + i);
                program.run();
                if (rank.number() == 0) {
                    worthIt.addAndGet(program.wasWorthIt() ? 1 : 0);
                    program.counts().forEach((name, more) -> {
                        int[] sum = counts.computeIfAbsent(name, n -> new int[2]);
                        sum[0] += more[0];
                        sum[1] += more[1];
                    });
                }
            }
        });
        assertThat(worthIt.get())
                .as("programs on %s with something cut or pending whose gradients were compared", mesh)
                .isGreaterThan(PROGRAMS / 3);
        int ran = counts.values().stream().mapToInt(c -> c[0]).sum();
        int refused = counts.values().stream().mapToInt(c -> c[1]).sum();
        assertThat(ran).as("steps that ran; %d were refused", refused).isGreaterThan(refused);
        if (PROGRAMS > 1000) { // only a long run has each step often enough
            counts.forEach((name, c) ->
                    assertThat(c[0]).as("times %s ran, refused %d", name, c[1]).isPositive());
        }
    }
}
