package org.tp4j.tests.comm;

import java.util.ArrayList;
import java.util.List;
import org.tp4j.comm.launch.Launch;
import org.tp4j.comm.launch.LaunchOptions;

/**
 * The contract as a program, for engines whose ranks are processes: {@code mpirun -np 4 java ... ContractMain}.
 *
 * <p>Prints a line a check from rank 0 and last {@code N checks passed}. With {@code -Dtp4j.checking=true}, the checks
 * of ranks that disagree run too.
 */
public final class ContractMain {
    private ContractMain() {}

    /** Runs the checks whose names contain the argument; all, without one. */
    public static void main(String[] args) {
        String wanted = args.length == 0 ? "" : args[0];
        LaunchOptions options = TestLaunch.options();
        List<Check> checks = new ArrayList<>(CollectiveContract.checks());
        if (options.communication().checking()) {
            checks.addAll(CollectiveContract.agreement());
        }
        Launch.run(options, world -> {
            int passed = 0;
            for (Check check : checks) {
                if (check.minRanks() > world.size() || !check.name().contains(wanted)) {
                    continue;
                }
                if (world.rank() == 0) {
                    System.out.println("check: " + check.name());
                }
                check.body().run(world);
                passed++;
            }
            if (world.rank() == 0) {
                System.out.println(passed + " checks passed");
            }
        });
    }
}
