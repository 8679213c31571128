package org.tp4j.optim;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.tp4j.comm.CommunicationException;
import org.tp4j.comm.GroupNumbers;
import org.tp4j.layout.Layout;
import org.tp4j.mesh.Axis;

/**
 * Compares over the ranks which parameters have a gradient: if one rank trains a parameter and another does not, copies
 * silently drift apart, or a deferred sum waits forever.
 */
final class GradientPresence {
    private GradientPresence() {}

    /**
     * Compares along every axis of the parameters' meshes. Collective: one gather of one bit per parameter for each axis.
     *
     * @throws CommunicationException on every rank of the axis where they differ
     */
    static void compare(List<Slot> slots) {
        Set<Axis> axes = new LinkedHashSet<>();
        for (Slot slot : slots) {
            Layout layout = slot.layout();
            if (layout != null) {
                axes.addAll(layout.mesh().axes());
            }
        }
        for (Axis axis : axes) {
            if (axis.size() > 1) {
                compare(axis, slots);
            }
        }
    }

    private static void compare(Axis axis, List<Slot> slots) {
        List<Slot> here = new ArrayList<>();
        for (Slot slot : slots) {
            Layout layout = slot.layout();
            if (layout != null && layout.mesh().axes().contains(axis)) {
                here.add(slot);
            }
        }
        boolean[] mine = new boolean[here.size()];
        for (int i = 0; i < mine.length; i++) {
            mine[i] = here.get(i).hasGradient();
        }
        boolean[] all = GroupNumbers.allGather(axis.group(), here.get(0).backend(), mine);
        for (int i = 0; i < mine.length; i++) {
            List<Integer> with = new ArrayList<>();
            List<Integer> without = new ArrayList<>();
            for (int r = 0; r < axis.size(); r++) {
                (all[r * mine.length + i] ? with : without).add(r);
            }
            if (!with.isEmpty() && !without.isEmpty()) {
                throw new CommunicationException(
                        "parameter '" + here.get(i).name() + "' has a gradient on ranks " + with
                                + " of mesh axis '" + axis.name() + "' but none on ranks " + without
                                + "; HINT: run the same modules and backward() on every rank; a rank without data takes a loss of"
                                + " 0 from an empty batch");
            }
        }
    }
}
