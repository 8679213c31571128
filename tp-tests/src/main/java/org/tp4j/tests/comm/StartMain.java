package org.tp4j.tests.comm;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import org.tp4j.comm.CommunicationException;
import org.tp4j.comm.launch.Launch;
import org.tp4j.comm.launch.RankMain;

/** Ranks that start in odd ways. */
public final class StartMain {
    private StartMain() {}

    /** Runs it: {@code twice}, two threads start MPI; or {@code stopped}, rank 1 is stopped before it starts MPI. */
    public static void main(String[] args) throws Exception {
        if (args[0].equals("twice")) {
            twice();
        } else {
            if ("1".equals(System.getenv().getOrDefault("OMPI_COMM_WORLD_RANK", System.getenv("RANK")))) {
                String self = String.valueOf(ProcessHandle.current().pid());
                new ProcessBuilder("kill", "-STOP", self).start().waitFor();
            }
            run(world -> world.group().barrier());
        }
    }

    private static void run(RankMain main) {
        Launch.run(TestLaunch.options(), main);
    }

    /** Both at the same time: one becomes the rank, the other is told. */
    private static void twice() throws InterruptedException, ExecutionException {
        CountDownLatch told = new CountDownLatch(1);
        Runnable body = () -> {
            try {
                run(world -> {
                    world.group().barrier();
                    told.await();
                    System.out.println("the rank is " + world.rank());
                });
            } catch (CommunicationException e) {
                System.out.println("told: " + e.getMessage());
                told.countDown();
            }
        };
        CompletableFuture<Void> first = CompletableFuture.runAsync(body);
        CompletableFuture<Void> second = CompletableFuture.runAsync(body);
        first.get();
        second.get();
        run(world -> System.out.println("and again, rank " + world.rank())); // one after the other is fine
    }
}
