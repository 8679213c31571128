package org.tp4j.autograd.internal;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.tp4j.comm.ReduceOp;
import org.tp4j.layout.Layout;
import org.tp4j.layout.Placement;
import org.tp4j.mesh.Axis;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Scope;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.Tensor;

/** Sums pending gradients, all of one mesh axis and type in one all-reduce. */
public final class PendingGradients {
    private PendingGradients() {}

    private record Bucket(Axis axis, DType dtype) {}

    /** Completes every pending gradient of these leaves; does nothing for the others. Collective. */
    public static void sum(Collection<? extends Tensor> leaves) {
        Map<Bucket, List<EagerTensor>> buckets = new LinkedHashMap<>();
        for (Tensor tensor : leaves) {
            EagerTensor leaf = (EagerTensor) tensor;
            EagerTensor grad = leaf.gradOrNull();
            Layout layout = grad == null ? null : grad.layoutOrNull();
            for (int a = 0;
                    grad != null && layout != null && a < layout.placements().size();
                    a++) {
                boolean due = !(leafLayout(leaf).placement(a).dual() instanceof Placement.Partial);
                if (due && layout.placement(a) instanceof Placement.Partial) {
                    Bucket bucket =
                            new Bucket(layout.mesh().axis(a), grad.array().dtype());
                    buckets.computeIfAbsent(bucket, b -> new ArrayList<>()).add(leaf);
                }
            }
        }
        buckets.forEach(PendingGradients::sum);
    }

    private static void sum(Bucket bucket, List<EagerTensor> leaves) {
        if (leaves.size() == 1) {
            NdArray only = grad(leaves.get(0)).local();
            bucket.axis.group().allReduce(only, only, ReduceOp.SUM).await();
        } else {
            sumFlat(bucket, leaves);
        }
        for (EagerTensor leaf : leaves) {
            EagerTensor pending = grad(leaf);
            Layout layout = java.util.Objects.requireNonNull(pending.layoutOrNull());
            int a = layout.mesh().axes().indexOf(bucket.axis);
            leaf.replaceGrad(new MeshTensor(
                    pending.array(),
                    pending.shape(),
                    layout.with(a, leafLayout(leaf).placement(a).dual())));
        }
    }

    private static Layout leafLayout(EagerTensor leaf) {
        return java.util.Objects.requireNonNull(leaf.layoutOrNull());
    }

    private static EagerTensor grad(EagerTensor leaf) {
        return java.util.Objects.requireNonNull(leaf.gradOrNull());
    }

    private static void sumFlat(Bucket bucket, List<EagerTensor> leaves) {
        long total = 0;
        for (EagerTensor leaf : leaves) {
            total += grad(leaf).array().elements();
        }
        try (Scope scope = Scope.open("gradient sum over " + bucket.axis.name())) {
            NdArray flat = NdArray.allocate(leaves.get(0).backend(), bucket.dtype, Shape.of(total));
            long at = 0;
            for (EagerTensor leaf : leaves) {
                NdArray grad = grad(leaf).local();
                flat.window(at, grad.shape()).assign(grad);
                at += grad.elements();
            }
            bucket.axis.group().allReduce(flat, flat, ReduceOp.SUM).await();
            at = 0;
            for (EagerTensor leaf : leaves) {
                NdArray grad = grad(leaf).local();
                grad.assign(flat.window(at, grad.shape()));
                at += grad.elements();
            }
        }
    }
}
