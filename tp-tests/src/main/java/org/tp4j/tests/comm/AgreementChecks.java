package org.tp4j.tests.comm;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import org.tp4j.comm.CommunicationException;
import org.tp4j.comm.ProcessGroup;
import org.tp4j.comm.ReduceOp;
import org.tp4j.comm.World;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Shape;

/** Rank 0 asks one thing, the others another: every rank is told, and what both sides asked. */
final class AgreementChecks {
    private AgreementChecks() {}

    /** What one rank asks. */
    private interface Asked {
        void call(World world);
    }

    static List<Check> all() {
        List<Check> checks = new ArrayList<>();
        add(
                checks,
                "sizes",
                allReduce(DType.FLOAT32, ReduceOp.SUM, 4),
                "[4]",
                allReduce(DType.FLOAT32, ReduceOp.SUM, 3),
                "[3]");
        add(
                checks,
                "shapes",
                allReduce(DType.FLOAT32, ReduceOp.SUM, 2, 3),
                "[2, 3]",
                allReduce(DType.FLOAT32, ReduceOp.SUM, 3, 2),
                "[3, 2]");
        add(
                checks,
                "types",
                allReduce(DType.FLOAT32, ReduceOp.SUM, 4),
                "float32",
                allReduce(DType.FLOAT64, ReduceOp.SUM, 4),
                "float64");
        add(
                checks,
                "reductions",
                allReduce(DType.FLOAT32, ReduceOp.SUM, 4),
                "sum",
                allReduce(DType.FLOAT32, ReduceOp.MAX, 4),
                "max");
        add(checks, "roots", broadcast(0), "root 0", broadcast(1), "root 1");
        add(checks, "counts of a gather", gather(2), "counts [2", gather(3), "counts [3");
        add(checks, "calls", allReduce(DType.FLOAT32, ReduceOp.SUM, 4), "allReduce", broadcast(0), "broadcast");
        add(checks, "calls, one without data", world -> world.group().barrier(), "barrier", broadcast(0), "broadcast");
        add(checks, "counts of an exchange", exchange(1), "allToAll", exchange(2), "allToAll");
        return checks;
    }

    private static Asked allReduce(DType dtype, ReduceOp op, long... shape) {
        return world -> {
            NdArray array = Values.ones(world.backend(), dtype, Shape.of(shape));
            world.group().allReduce(array, array, op).await();
        };
    }

    private static Asked broadcast(int root) {
        return world -> world.group()
                .broadcast(Values.ones(world.backend(), DType.FLOAT32, Shape.of(4)), root)
                .await();
    }

    private static Asked gather(long n) {
        return world -> {
            long[] counts = new long[world.size()];
            Arrays.fill(counts, n);
            NdArray in = Values.ones(world.backend(), DType.FLOAT32, Shape.of(n));
            NdArray out = NdArray.allocate(world.backend(), DType.FLOAT32, Shape.of(n * world.size()));
            world.group().allGather(in, out, counts).await();
        };
    }

    private static Asked exchange(long n) {
        return world -> {
            long[] counts = new long[world.size()];
            Arrays.fill(counts, n);
            NdArray in = Values.ones(world.backend(), DType.FLOAT32, Shape.of(n * world.size()));
            NdArray out = NdArray.allocate(world.backend(), DType.FLOAT32, Shape.of(n * world.size()));
            world.group().allToAll(in, counts, out, counts).await();
        };
    }

    private static void add(List<Check> checks, String name, Asked first, String said, Asked others, String otherSaid) {
        checks.add(new Check("ranks that disagree are told: " + name, 2, world -> {
            try {
                (world.rank() == 0 ? first : others).call(world);
            } catch (CommunicationException e) {
                String message = String.valueOf(e.getMessage());
                String both = "(?s).*rank 0 calls .*" + Pattern.quote(said) + ".*, rank [1-9] calls .*"
                        + Pattern.quote(otherSaid) + ".*HINT.*";
                if (!message.matches(both)) {
                    throw new AssertionError("the message lacks a side: " + message, e);
                }
                afterwards(world);
                return;
            }
            throw new AssertionError("rank " + world.rank() + " got a result");
        }));
    }

    private static void afterwards(World world) {
        ProcessGroup fresh = world.group().split("afterwards", 0, world.rank());
        NdArray array = Values.array(world.backend(), DType.FLOAT32, world.rank() + 1);
        fresh.allReduce(array, array, ReduceOp.SUM).await();
        Values.expect("a new group", array, world.size() * (world.size() + 1) / 2.0);
        fresh.close();
    }
}
