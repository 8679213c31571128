package org.tp4j.tests.op;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.tp4j.autograd.Tensors;
import org.tp4j.cpu.CpuBackend;
import org.tp4j.layout.DTensor;
import org.tp4j.layout.Placement;
import org.tp4j.tensor.Backend;
import org.tp4j.tensor.BinaryFunction;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.Tensor;
import org.tp4j.tests.oracle.Ranks;
import org.tp4j.tests.oracle.Whole;

/** Every operation's gradient against central differences. */
class GradientCheckTest {
    private static final Backend BACKEND = CpuBackend.get();
    private static final Catalogue ALL = Catalogue.all();

    /** Methods of Tensor that return tensors and are no operations. */
    private static final Set<String> NO_OPERATIONS = Set.of("requiresGrad", "grad", "detach");

    /** Truth values and indices; casts, which step; and an embedding whose padding row is cut off on purpose. */
    private static final Set<String> NOT_DIFFERENTIABLE = Set.of(
            "not", "argmax", "cast", "cast to integers", "cast of truths", "sum of integers", "gatherRows padding");

    static Stream<String> differentiable() {
        Set<String> slopes = Arrays.stream(BinaryFunction.values())
                .filter(function -> !function.isDifferentiable())
                .map(Functions::name)
                .collect(Collectors.toSet());
        return ALL.names().stream().filter(name -> !NOT_DIFFERENTIABLE.contains(name) && !slopes.contains(name));
    }

    @ParameterizedTest
    @MethodSource("differentiable")
    void shouldAgreeWithCentralDifferences(String name) {
        GradientCheck check = new GradientCheck(BACKEND);
        for (int seed = 0; seed < 24; seed++) {
            Draw.Sizes sizes = seed % 6 == 0 ? Draw.Sizes.ONES : seed % 6 == 1 ? Draw.Sizes.EMPTY : Draw.Sizes.SMALL;
            Sample sample = ALL.draw(name, new Random(seed), sizes);
            check.check("seed " + seed + ": " + sample, sample.function(), sample.operands());
        }
    }

    @Test
    void shouldHaveEveryOperation() {
        Set<String> known = ALL.names().stream().map(name -> name.split(" ")[0]).collect(Collectors.toSet());
        List<String> all = Arrays.stream(Tensor.class.getMethods())
                .filter(m -> m.getReturnType() == Tensor.class || m.getReturnType() == Tensor[].class)
                .map(Method::getName)
                .distinct()
                .filter(name -> !NO_OPERATIONS.contains(name))
                .toList();
        assertThat(known).containsAll(all);
    }

    @Test
    void shouldGivePaddingRowNoGradient() {
        Tensor table = Tensors.of(BACKEND, new double[] {1, 2, 3}, 3, 1).requiresGrad(true);
        Tensor ids = Tensors.of(BACKEND, new long[] {0, 2, 2, 1, 2}, 5);
        Tensor rows = table.gatherRows(ids, -1);
        assertThat(rows.toDoubles()).containsExactly(1, 3, 3, 2, 3);
        rows.sum().backward();
        assertThat(table.grad().toDoubles()).containsExactly(1, 1, 0);
    }

    @Test
    void shouldCastGradientBack() {
        Tensor x = Tensors.of(BACKEND, new double[] {1, 2, 3}, 3).requiresGrad(true);
        Tensor narrow = x.cast(DType.FLOAT32);
        assertThat(narrow.dtype()).isEqualTo(DType.FLOAT32);
        narrow.mul(2).sum().backward();
        assertThat(x.grad().dtype()).isEqualTo(DType.FLOAT64);
        assertThat(x.grad().toDoubles()).containsExactly(2, 2, 2);
    }

    @Test
    void shouldShareTheGradientOfAnExtremumAmongEqualElements() {
        Ranks.run(2, rank -> {
            for (boolean largest : new boolean[] {true, false}) {
                double s = largest ? 1 : -1;
                Whole values = Whole.of(Shape.of(2, 4), 3 * s, s, 3 * s, 0, 2 * s, 2 * s, 2 * s, 2 * s);
                DTensor x = rank.place(values, Placement.shard(0));
                x.requiresGrad(true);
                (largest ? x.max(false, 1) : x.min(false, 1)).mul(4).sum().backward();
                assertThat(rank.value(x.grad())).containsExactly(2, 0, 2, 0, 1, 1, 1, 1);
                Tensor alone = values.toTensor(rank.backend()).requiresGrad(true);
                (largest ? alone.max(false) : alone.min(false)).backward();
                assertThat(alone.grad().toDoubles()).containsExactly(0.5, 0, 0.5, 0, 0, 0, 0, 0);
            }
        });
    }
}
