package org.tp4j.tests.comm;

import java.io.File;
import java.util.Objects;
import org.tp4j.comm.ReduceOp;
import org.tp4j.comm.launch.Launch;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Scope;

/** Opens and closes worlds in one process, one after the other, and says which threads and descriptors are left. */
public final class WorldsMain {
    private static final int WARM = 3;

    private WorldsMain() {}

    /**
     * Runs it.
     *
     * @param args number of worlds
     */
    public static void main(String[] args) throws InterruptedException {
        int worlds = Integer.parseInt(args[0]);
        for (int i = 0; i < WARM; i++) {
            world();
        }
        say("before");
        for (int i = 0; i < worlds; i++) {
            world();
        }
        say("after");
    }

    @SuppressWarnings("try") // a scope that only owns
    private static void world() {
        Launch.run(TestLaunch.options(), world -> {
            try (Scope scope = Scope.open("sum")) {
                NdArray array = Values.array(world.backend(), DType.FLOAT32, world.rank() + 1.0);
                world.group()
                        .split("tp", 0, world.rank())
                        .allReduce(array, array, ReduceOp.SUM)
                        .await();
            }
        });
    }

    private static void say(String when) throws InterruptedException {
        Thread.sleep(200); // threads that are about to end
        System.out.println("@" + when + " " + count("/proc/self/task") + " " + count("/proc/self/fd"));
    }

    private static int count(String folder) {
        return Objects.requireNonNull(new File(folder).list()).length;
    }
}
