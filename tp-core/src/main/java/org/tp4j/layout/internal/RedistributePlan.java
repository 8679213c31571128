package org.tp4j.layout.internal;

import java.util.ArrayList;
import java.util.List;
import org.tp4j.layout.Layout;
import org.tp4j.layout.LayoutException;
import org.tp4j.layout.Placement;
import org.tp4j.layout.Placement.Replicate;
import org.tp4j.layout.Placement.Shard;
import org.tp4j.layout.Transition;

/**
 * A change of layout as changes of one axis each, in an order that keeps every step a row of {@link Transition}: cuts are
 * undone from the innermost outwards and made from the outermost inwards.
 */
public final class RedistributePlan {
    /**
     * One step.
     *
     * @param axis the mesh axis that changes
     * @param before layout before it
     * @param after layout after it
     */
    public record Step(int axis, Layout before, Layout after) {
        /** The row of the table. */
        public Transition transition() {
            return Transition.of(before.placement(axis), after.placement(axis));
        }
    }

    private final Layout target;
    private final List<Step> steps = new ArrayList<>();
    private Layout current;

    private RedistributePlan(Layout from, Layout to) {
        this.current = from;
        this.target = to;
    }

    /**
     * The steps from one layout to another of the same mesh; none if they are equal.
     *
     * @param dims number of dimensions of the tensor
     * @throws LayoutException if the meshes differ or a placement cannot be reached
     */
    public static List<Step> steps(Layout from, Layout to, int dims) {
        if (!from.mesh().equals(to.mesh())) {
            throw new LayoutException(
                    "redistribute",
                    "redistribute: from " + from + " to " + to + " the meshes differ: "
                            + to.mesh().differenceTo(from.mesh()));
        }
        RedistributePlan plan = new RedistributePlan(from, to);
        if (!from.equals(to)) {
            for (int dim = 0; dim < dims; dim++) {
                plan.undoCuts(dim);
            }
            for (int dim = 0; dim < dims; dim++) {
                plan.makeCuts(dim);
            }
            plan.settleUncut();
        }
        return plan.steps;
    }

    private void step(int axis, Placement to) {
        Layout after = current.with(axis, to);
        Step step = new Step(axis, current, after);
        step.transition(); // refuses what the table does not have
        steps.add(step);
        current = after;
    }

    private void undoCuts(int dim) {
        List<Integer> have = current.cutsOf(dim);
        int common = commonPrefix(dim, have);
        for (int i = have.size() - 1; i >= common; i--) {
            int axis = have.get(i);
            Placement wanted = target.placement(axis);
            if (wanted instanceof Shard s && !(s.dim() != dim && isNextCut(axis, s.dim()))) {
                wanted = Replicate.INSTANCE;
            }
            step(axis, wanted);
        }
    }

    private int commonPrefix(int dim, List<Integer> have) {
        List<Integer> want = target.cutsOf(dim);
        int n = 0;
        while (n < have.size()
                && n < want.size()
                && have.get(n).equals(want.get(n))
                && current.placement(have.get(n)).equals(target.placement(want.get(n)))) {
            n++;
        }
        return n;
    }

    /** Whether the cut by {@code axis} comes next, given the existing cuts of {@code dim}. */
    private boolean isNextCut(int axis, int dim) {
        List<Integer> have = current.cutsOf(dim);
        List<Integer> want = target.cutsOf(dim);
        return commonPrefix(dim, have) == have.size() && want.size() > have.size() && want.get(have.size()) == axis;
    }

    private void makeCuts(int dim) {
        List<Integer> want = target.cutsOf(dim);
        for (int i = current.cutsOf(dim).size(); i < want.size(); i++) {
            int axis = want.get(i);
            step(axis, target.placement(axis));
        }
    }

    private void settleUncut() {
        for (int axis = 0; axis < target.placements().size(); axis++) {
            if (!current.placement(axis).equals(target.placement(axis))) {
                step(axis, target.placement(axis));
            }
        }
    }
}
