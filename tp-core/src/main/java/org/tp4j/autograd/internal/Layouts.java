package org.tp4j.autograd.internal;

import org.tp4j.layout.DTensor;
import org.tp4j.layout.Layout;
import org.tp4j.layout.LayoutException;
import org.tp4j.layout.Placement;
import org.tp4j.tensor.Tensor;

/** Checks that composite operations make up front, so that the message names the method that was called. */
final class Layouts {
    private Layouts() {}

    /** Throws if one of the dimensions is cut on some axis. */
    static void requireUncut(Tensor tensor, String operation, int... dims) {
        if (!(tensor instanceof DTensor d)) {
            return;
        }
        for (int dim : dims) {
            for (int axis : d.layout().cutsOf(dim)) {
                throw refused(
                        operation, d.layout(), axis, "works on dimension " + dim + " as a whole, which is sharded");
            }
        }
    }

    /** Throws if the tensor is a pending sum on some axis. */
    static void requireNotPending(Tensor tensor, String operation) {
        if (!(tensor instanceof DTensor d)) {
            return;
        }
        for (int axis = 0; axis < d.layout().placements().size(); axis++) {
            if (d.layout().placement(axis) instanceof Placement.Partial) {
                throw refused(operation, d.layout(), axis, "is not linear in a pending sum");
            }
        }
    }

    private static LayoutException refused(String operation, Layout layout, int axis, String why) {
        String name = layout.mesh().axis(axis).name();
        return new LayoutException(
                operation,
                operation + ": it " + why + " on mesh axis '" + name + "'; the tensor is laid out " + layout
                        + "; HINT: redistribute(\"" + name + "\", Placement.invariant()) first");
    }
}
