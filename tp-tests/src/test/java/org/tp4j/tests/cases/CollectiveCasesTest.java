package org.tp4j.tests.cases;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.tp4j.autograd.Tensors;
import org.tp4j.comm.CommunicationException;
import org.tp4j.comm.DisagreementException;
import org.tp4j.comm.ProcessGroup;
import org.tp4j.comm.ReduceOp;
import org.tp4j.comm.World;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.Tensor;
import org.tp4j.tests.Cases;
import org.tp4j.threads.ThreadRanks;

/** Cases A29 to A32: roots in subgroups, ranks that disagree, a rank that dies, views. */
@Timeout(60)
class CollectiveCasesTest {
    private static Tensor of(World world, double... values) {
        return Tensors.of(world.backend(), values, values.length).cast(DType.FLOAT32);
    }

    private static double[] read(NdArray array) {
        return Tensors.of(array).toDoubles();
    }

    private static ProcessGroup mine(World world, Cases a, String name) {
        List<List<Integer>> groups = new ArrayList<>();
        for (JsonNode group : a.at(name + "_groups")) {
            groups.add(Arrays.stream(Cases.longs(group)).mapToObj(r -> (int) r).toList());
        }
        return world.group().partition(name, groups);
    }

    @ParameterizedTest
    @CsvSource({"tp, 0", "tp, 1", "dp, 0", "dp, 1"})
    void shouldCountRootsWithinTheGroup(String name, int root) {
        Cases a = Cases.of("A29");
        ThreadRanks.run(4, world -> {
            Tensor value = of(world, a.doubles("rank_values")[world.rank()]);
            mine(world, a, name).broadcast(value.local(), root).await();
            double expected = a.doubles("broadcast_from_group_rank/" + name + "," + root)[world.rank()];
            assertThat(value.toDoubles()).containsExactly(expected);
        });
    }

    @Test
    void shouldScatterFromTheGroupsRoot() {
        Cases a = Cases.of("A29");
        ThreadRanks.run(4, world -> {
            ProcessGroup tp = mine(world, a, "tp");
            boolean root = tp.rank() == 0;
            Tensor in = root ? of(world, 100 + world.rank(), 200 + world.rank()) : of(world);
            Tensor out = of(world, -1);
            long[] sends = root ? new long[] {1, 1} : new long[2];
            tp.allToAll(in.local(), sends, out.local(), new long[] {1, 0}).await();
            double expected = a.doubles("scatter_from_tp_group_rank_0/result")[world.rank()];
            assertThat(out.toDoubles()).containsExactly(expected);
        });
    }

    /** The gradient of a broadcast is the sum, at the root, of the gradients of all ranks' losses. */
    @Test
    void shouldSumTheGradientOfABroadcastAtItsRoot() {
        Cases a = Cases.of("A29");
        ThreadRanks.run(4, world -> {
            Tensor gradient = of(world, a.doubles("backward/loss_weights")[world.rank()]);
            mine(world, a, "tp")
                    .reduce(gradient.local(), gradient.local(), ReduceOp.SUM, 0)
                    .await();
            if (a.has("backward/grad_x/" + world.rank())) {
                assertThat(gradient.local().toDoubles()).containsExactly(a.number("backward/grad_x/" + world.rank()));
            }
        });
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 3, 4})
    void shouldReportBothSidesOfADisagreementToEveryRank(int ranks) {
        Cases a = Cases.of("A30");
        for (JsonNode one : a.at("cases")) {
            if (one.has("every_rank_shape")) {
                continue; // uneven counts are legal, see below
            }
            Map<Integer, Throwable> seen = new ConcurrentHashMap<>();
            Throwable end = catchThrowable(() -> ThreadRanks.run(ranks, world -> {
                seen.put(world.rank(), catchThrowable(() -> ask(world, one)));
                Tensor fresh = of(world, world.rank() + 1);
                ProcessGroup group = world.group().split("fresh", 0, 0);
                group.allReduce(fresh.local(), fresh.local(), ReduceOp.SUM).await();
                assertThat(fresh.toDoubles()).containsExactly(a.number("then/result/" + ranks));
            }));
            assertThat(end).isInstanceOf(DisagreementException.class); // what was caught is not forgotten
            assertThat(seen).as(one.toString()).hasSize(ranks);
            assertThat(seen.values())
                    .allSatisfy(e -> assertThat(e)
                            .isInstanceOf(CommunicationException.class)
                            .hasMessageContaining("rank 0 calls")
                            .hasMessageMatching(".*, rank [1-3] calls .*"));
        }
    }

    private static void ask(World world, JsonNode one) {
        String side = world.rank() == 0 ? "rank0_" : "others_";
        long[] shape = Cases.longs(one.has("shape") ? one.get("shape") : one.get(side + "shape"));
        DType type = one.has(side + "dtype")
                ? DType.valueOf(one.get(side + "dtype").asText().toUpperCase(Locale.ROOT))
                : DType.FLOAT32;
        NdArray array = NdArray.full(world.backend(), type, Shape.of(shape), 1);
        String op = one.get("op").asText();
        if (op.startsWith("all_gather")) {
            long[] counts = new long[world.size()];
            Arrays.fill(counts, array.elements());
            NdArray out = NdArray.allocate(world.backend(), type, Shape.of(array.elements() * world.size()));
            world.group().allGather(array, out, counts).await();
        } else if (op.startsWith("broadcast")) {
            world.group().broadcast(array, one.get(side + "root").asInt()).await();
        } else if (op.startsWith("rank 0 calls all_reduce") && world.rank() > 0) {
            world.group().broadcast(array, 0).await();
        } else {
            boolean max = one.has(side + "op") && one.get(side + "op").asText().equals("max");
            world.group()
                    .allReduce(array, array, max ? ReduceOp.MAX : ReduceOp.SUM)
                    .await();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 3, 4})
    void shouldScatterUnevenlyWhereTheSizeIsNotDivisible(int ranks) {
        ThreadRanks.run(ranks, world -> {
            long[] counts = new long[ranks];
            Arrays.setAll(
                    counts,
                    r -> Math.max(0, Math.min(5, (r + 1L) * ((4 + ranks) / ranks)) - r * (long) ((4 + ranks) / ranks)));
            Tensor in = of(world, 1, 2, 3, 4, 5);
            NdArray out = NdArray.allocate(world.backend(), DType.FLOAT32, Shape.of(counts[world.rank()]));
            world.group().reduceScatter(in.local(), out, counts, ReduceOp.SUM).await();
            long first = Arrays.stream(counts, 0, world.rank()).sum();
            double[] expected = new double[(int) counts[world.rank()]];
            Arrays.setAll(expected, i -> ranks * (first + i + 1));
            assertThat(read(out)).containsExactly(expected);
        });
    }

    @Test
    void shouldStopAllRanksWhenOneDies() {
        Cases a = Cases.of("A31");
        int victim = (int) a.number("dies/rank");
        IllegalStateException own = new IllegalStateException("dies");
        List<Double> results = java.util.Collections.synchronizedList(new ArrayList<>());
        Map<Integer, Throwable> seen = new ConcurrentHashMap<>();
        long start = System.nanoTime();
        Throwable thrown = catchThrowable(() -> ThreadRanks.run((int) a.number("T"), world -> {
            for (int call = 1; ; call++) {
                if (world.rank() == victim && call == (int) a.number("dies/before_call")) {
                    throw own;
                }
                Tensor value = of(world, world.rank() + 1);
                try {
                    world.group()
                            .allReduce(value.local(), value.local(), ReduceOp.SUM)
                            .await();
                } catch (CommunicationException e) {
                    seen.put(world.rank(), e);
                    world.close();
                    throw e;
                }
                results.add(value.toDoubles()[0]);
            }
        }));
        assertThat(TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - start))
                .isLessThan((long) a.number("time_limit_s"));
        assertThat(thrown).isSameAs(own);
        assertThat(seen).hasSize(3);
        assertThat(seen.values())
                .allSatisfy(e -> assertThat(e)
                        .hasMessageContaining("rank " + victim + " has failed")
                        .hasCause(own));
        assertThat(results).hasSize(8).allMatch(r -> r == a.doubles("first_two_results")[0]);
        ThreadRanks.run((int) a.number("T"), world -> {
            Tensor value = of(world, world.rank() + 1);
            world.group().allReduce(value.local(), value.local(), ReduceOp.SUM).await();
            assertThat(value.toDoubles()).containsExactly(a.number("new_group_result"));
        });
    }

    /** A transposed or strided tensor is its own contiguous copy; a slice of rows shares memory with its base. */
    @Test
    void shouldReadViewsByTheirElements() {
        Cases a = Cases.of("A32");
        ThreadRanks.run(2, world -> {
            ProcessGroup group = world.group();
            Tensor base = a.tensor(world.backend(), DType.FLOAT32, "rank_matrix_3x4/" + world.rank());
            double[] before = base.toDoubles();
            Tensor transposed = base.transpose(0, 1);
            NdArray sum = NdArray.allocate(world.backend(), DType.FLOAT32, transposed.shape());
            group.allReduce(transposed.local(), sum, ReduceOp.SUM).await();
            assertThat(read(sum)).containsExactly(a.doubles("all_reduce_T"));

            Tensor column = base.slice(1, 1, 2).reshape(3);
            NdArray columnSum = NdArray.allocate(world.backend(), DType.FLOAT32, Shape.of(3));
            group.allReduce(column.local(), columnSum, ReduceOp.SUM).await();
            assertThat(read(columnSum)).containsExactly(a.doubles("all_reduce_col"));

            NdArray gathered = NdArray.allocate(world.backend(), DType.FLOAT32, Shape.of(24));
            group.allGather(transposed.local(), gathered, new long[] {12, 12}).await();
            assertThat(read(gathered)).containsExactly(a.doubles("all_gather_T_dim0"));
            NdArray columns = NdArray.allocate(world.backend(), DType.FLOAT32, Shape.of(6));
            group.allGather(column.local(), columns, new long[] {3, 3}).await();
            assertThat(read(columns)).containsExactly(a.doubles("all_gather_col"));

            NdArray piece = NdArray.allocate(world.backend(), DType.FLOAT32, Shape.of(2, 3));
            group.reduceScatter(transposed.local(), piece, new long[] {6, 6}, ReduceOp.SUM)
                    .await();
            assertThat(read(piece)).containsExactly(a.doubles("reduce_scatter_T_dim0/" + world.rank()));
            assertThat(base.toDoubles()).containsExactly(before);

            Tensor other = base.transpose(0, 1);
            group.broadcast(other.local(), 0).await();
            assertThat(other.toDoubles()).containsExactly(a.doubles("broadcast_T_from_0"));
            assertThat(base.toDoubles()).containsExactly(before);
        });
    }

    @Test
    void shouldChangeNothingOutsideOfAViewInPlace() {
        Cases a = Cases.of("A32");
        ThreadRanks.run(2, world -> {
            Tensor base = a.tensor(world.backend(), DType.FLOAT32, "rank_matrix_3x4/" + world.rank());
            double[] expected = base.toDoubles();
            double[] rows = a.doubles("broadcast_rows_from_1");
            // Rows 0 and 2 are windows of the base; each is broadcast where it lies.
            for (int row = 0; row < 3; row += 2) {
                NdArray window = base.local().window(4L * row, Shape.of(4));
                world.group().broadcast(window, 1).await();
                System.arraycopy(rows, row * 2, expected, row * 4, 4);
            }
            assertThat(base.toDoubles()).containsExactly(expected);
        });
    }
}
