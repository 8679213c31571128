package org.tp4j.optim;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.tp4j.comm.GroupNumbers;
import org.tp4j.mesh.Axis;
import org.tp4j.tensor.Backend;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Scope;
import org.tp4j.tensor.Shape;

/**
 * The norm of all gradients as one vector, each element counted once however many ranks hold it.
 *
 * <p>Gradients are sorted by the set of axes that cut them. What a rank holds is reduced to one FLOAT64 per set; then,
 * axis by axis, the numbers of all ranks are gathered in one call and those of the sets that the axis cuts are reduced. Along
 * the other axes ranks hold the same bits, and nothing is added.
 *
 * <p>Gathering and reducing in rank order, rather than an all-reduce, gives the same bits in every row and column of a mesh,
 * whichever way an engine's ring runs, and a NaN survives a maximum, which MPI and NCCL do not guarantee.
 */
@SuppressWarnings("try") // scopes that only own
final class GradientNorm {
    private GradientNorm() {}

    /** The norm; 0 of nothing. Collective. */
    static double of(List<ReadyGradient> gradients, NormType type) {
        if (gradients.isEmpty()) {
            return 0;
        }
        Map<Set<Axis>, List<NdArray>> bySet = new LinkedHashMap<>();
        Set<Axis> axes = new LinkedHashSet<>();
        for (ReadyGradient gradient : gradients) {
            bySet.computeIfAbsent(gradient.cutBy(), set -> new ArrayList<>()).add(gradient.local());
            axes.addAll(gradient.cutBy());
        }
        List<Set<Axis>> sets = List.copyOf(bySet.keySet());
        List<List<NdArray>> members = List.copyOf(bySet.values());
        Backend backend = gradients.get(0).local().backend();
        try (Scope scope = Scope.open("gradient norm")) {
            NdArray parts = NdArray.allocate(backend, DType.FLOAT64, Shape.of(sets.size()));
            for (int s = 0; s < sets.size(); s++) {
                reduceLocal(members.get(s), type, parts.window(s, Shape.scalar()));
            }
            for (Axis axis : axes) {
                reduceAlong(axis, sets, type, parts);
            }
            return total(parts, type);
        }
    }

    /** Largest magnitude of what this rank holds; no communication. */
    static double ofLocal(ReadyGradient gradient) {
        try (Scope scope = Scope.open("gradient norm")) {
            NdArray out = NdArray.allocate(gradient.local().backend(), DType.FLOAT64, Shape.of(1));
            reduceLocal(List.of(gradient.local()), NormType.INF, out.reshape(Shape.scalar()));
            return total(out, NormType.INF);
        }
    }

    private static void reduceLocal(List<NdArray> gradients, NormType type, NdArray out) {
        Backend backend = out.backend();
        NdArray each = NdArray.allocate(backend, DType.FLOAT64, Shape.of(gradients.size()));
        for (int i = 0; i < gradients.size(); i++) {
            NdArray gradient = gradients.get(i);
            boolean[] all = new boolean[gradient.shape().dims()];
            Arrays.fill(all, true);
            backend.reduction().reduce(type.ofElements(), gradient, all, each.window(i, Shape.scalar()));
        }
        backend.reduction().reduce(type.ofParts(), each, new boolean[] {true}, out);
    }

    private static void reduceAlong(Axis axis, List<Set<Axis>> sets, NormType type, NdArray parts) {
        int n = sets.size();
        NdArray all = GroupNumbers.allGather(axis.group(), parts);
        NdArray reduced = NdArray.allocate(parts.backend(), DType.FLOAT64, Shape.of(n));
        parts.backend().reduction().reduce(type.ofParts(), all, new boolean[] {true, false}, reduced);
        for (int s = 0; s < n; s++) {
            if (sets.get(s).contains(axis)) {
                parts.window(s, Shape.scalar()).assign(reduced.window(s, Shape.scalar()));
            }
        }
    }

    private static double total(NdArray parts, NormType type) {
        ByteBuffer bytes =
                ByteBuffer.allocate((int) parts.elements() * Double.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        parts.backend().copyOut(parts, bytes);
        bytes.flip();
        double whole = 0;
        while (bytes.hasRemaining()) {
            double part = bytes.getDouble();
            whole = type == NormType.INF ? Math.max(whole, part) : whole + part;
        }
        return type.finish(whole);
    }
}
