package org.tp4j.tests.comm;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.stream.Collectors;
import org.tp4j.comm.CommunicationException;
import org.tp4j.comm.ProcessGroup;
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
     * @param args how to fail, see {@code fail}, and the rank that does
     */
    public static void main(String[] args) {
        String how = args[0].toLowerCase(Locale.ROOT);
        int victim = Integer.parseInt(args[1]);
        Launch.run(TestLaunch.options(), world -> {
            meet(world);
            try {
                work(world, how, victim);
            } catch (CommunicationException e) {
                System.out.println(said(world, "told", String.valueOf(e.getMessage())));
                throw e;
            }
        });
    }

    private static void work(World world, String how, int victim) throws Exception {
        ProcessGroup other = how.equals("elsewhere") ? world.group().split("dp", 0, world.rank()) : world.group();
        for (int call = 1; call <= 10; call++) {
            if (call == FATAL_CALL && world.rank() == victim) {
                System.out.println(said(world, "fault", how));
                System.out.flush();
                if (how.equals("return")) {
                    return;
                }
                fail(world, how, other);
            }
            if (call == FATAL_CALL && how.equals("type") && world.rank() != victim) {
                NdArray array = Values.array(world.backend(), DType.FLOAT64, 1);
                world.group().broadcast(array, victim).await();
                System.out.println("a result for a call that nobody else made: " + Values.read(array)[0]);
            }
            NdArray array = Values.array(world.backend(), DType.FLOAT32, world.rank() + 1.0);
            world.group().allReduce(array, array, ReduceOp.SUM).await();
            System.out.println("result " + call + ": " + Values.read(array)[0]);
        }
    }

    /** A line that the tests read: what, which rank, when in milliseconds, and a text. */
    private static String said(World world, String what, String text) {
        return "@" + what + " " + world.rank() + " " + System.currentTimeMillis() + " "
                + text.lines().collect(Collectors.joining(" "));
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

    private static void fail(World world, String how, ProcessGroup other) throws Exception {
        switch (how) {
            case "throw" -> throw new IllegalStateException("boom");
            case "kill" -> signal("KILL");
            case "stop" -> {
                Thread.sleep(1000); // long enough for a heartbeat to say how far it came
                signal("STOP");
            }
            case "pause" -> {
                long self = ProcessHandle.current().pid();
                new ProcessBuilder("sh", "-c", "kill -STOP " + self + "; sleep 2; kill -CONT " + self)
                        .start()
                        .waitFor();
            }
            case "type" ->
                world.group()
                        .broadcast(Values.array(world.backend(), DType.FLOAT32, 1), world.rank())
                        .await();
            case "elsewhere" -> other.barrier();
            case "exit" -> System.exit(3);
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
