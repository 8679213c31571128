package org.tp4j.tests.oracle;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.tp4j.comm.CommunicationOptions;
import org.tp4j.comm.ProcessGroup;
import org.tp4j.comm.record.CommunicationLog;
import org.tp4j.comm.record.RecordingGroup;
import org.tp4j.mesh.DeviceMesh;
import org.tp4j.threads.ThreadRanks;

/** Runs a test on every rank of a mesh, the ranks being threads. */
public final class Ranks {
    private static final long TIMEOUT_MS = 60_000; // a hung rank fails its test, not the build

    private Ranks() {}

    /** What every rank runs. */
    @FunctionalInterface
    public interface Body {
        /** Runs as one rank. */
        void run(Rank rank) throws Exception;
    }

    /**
     * Runs {@code body} on a mesh with axes of these sizes: one axis is called tp, two are dp and tp, three pp, dp and tp.
     */
    public static void run(List<Integer> sizes, Body body) {
        int ranks = sizes.stream().reduce(1, (a, b) -> a * b);
        List<String> names = List.of("pp", "dp", "tp").subList(3 - sizes.size(), 3);
        List<Map.Entry<String, Integer>> axes = new ArrayList<>();
        for (int i = 0; i < sizes.size(); i++) {
            axes.add(Map.entry(names.get(i), sizes.get(i)));
        }
        Object[] slots = new Object[ranks];
        CommunicationOptions options = CommunicationOptions.fromSystem().withTimeoutMs(TIMEOUT_MS);
        ThreadRanks.run(ranks, options, world -> {
            CommunicationLog log = new CommunicationLog();
            ProcessGroup recorded = new RecordingGroup(world.group(), log);
            DeviceMesh mesh = DeviceMesh.of(recorded, world.backend(), axes);
            body.run(new Rank(world, mesh, log, slots));
        });
    }

    /** Runs {@code body} on {@code ranks} ranks, the one axis being tp. */
    public static void run(int ranks, Body body) {
        run(List.of(ranks), body);
    }

    /** As {@link #run(List, Body)} for sizes given one by one. */
    public static void run(int[] sizes, Body body) {
        run(Arrays.stream(sizes).boxed().toList(), body);
    }
}
