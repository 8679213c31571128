package org.tp4j.tests.comm;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import org.tp4j.comm.ReduceOp;
import org.tp4j.comm.World;
import org.tp4j.comm.launch.Launch;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.NdArray;

/** Ranks that add up their numbers in a loop, until one of them fails in the way that was asked for. */
public final class FailureMain {
    private static final int FATAL_CALL = 3;
    private static final long FOR_GOOD_MS = 600_000; // longer than any test waits

    /** System property: an empty folder in which the ranks meet before their first call. */
    public static final String MEETING = "tp.test.meeting";

    private FailureMain() {}

    /**
     * Runs it.
     *
     * @param args how to fail, {@code throw}, {@code kill}, {@code stop}, {@code exit}, {@code late} or {@code disagree};
     *     and the rank that does
     */
    public static void main(String[] args) {
        String how = args[0].toLowerCase(Locale.ROOT);
        int victim = Integer.parseInt(args[1]);
        Launch.run(TestLaunch.options(), world -> {
            meet(world);
            for (int call = 1; call <= 10; call++) {
                if (call == FATAL_CALL && world.rank() == victim) {
                    fail(world, how);
                }
                NdArray array = Values.array(world.backend(), DType.FLOAT32, world.rank() + 1.0);
                world.group().allReduce(array, array, ReduceOp.SUM).await();
                System.out.println("result " + call + ": " + Values.read(array)[0]);
            }
        });
    }

    /** Takes what ranks load before their first call out of a timeout that is short. */
    private static void meet(World world) throws IOException, InterruptedException {
        String folder = System.getProperty(MEETING);
        if (folder == null) {
            return;
        }
        Values.read(Values.array(world.backend(), DType.FLOAT32, 1));
        Files.createFile(Path.of(folder, "rank-" + world.rank()));
        for (int rank = 0; rank < world.size(); rank++) {
            while (!Files.exists(Path.of(folder, "rank-" + rank))) {
                Thread.sleep(5);
            }
        }
    }

    private static void fail(World world, String how) throws Exception {
        switch (how) {
            case "throw" -> throw new IllegalStateException("boom");
            case "kill" -> signal("KILL");
            case "stop" -> {
                Thread.sleep(1000); // long enough for a heartbeat to say how far it came
                signal("STOP");
            }
            case "exit" -> System.exit(0);
            case "late" -> Thread.sleep(FOR_GOOD_MS);
            case "disagree" -> {
                NdArray array = Values.array(world.backend(), DType.FLOAT32, 1, 1);
                world.group().allReduce(array, array, ReduceOp.SUM).await();
                System.out.println("a result for a call that nobody else made");
            }
            default -> throw new IllegalArgumentException(how);
        }
    }

    private static void signal(String name) throws Exception {
        String self = String.valueOf(ProcessHandle.current().pid());
        new ProcessBuilder("kill", "-" + name, self).inheritIO().start().waitFor();
        Thread.sleep(FOR_GOOD_MS); // a stopped process goes on here if it is continued
    }
}
