package org.tp4j.autograd.internal;

import java.util.ArrayList;
import java.util.List;
import org.tp4j.layout.DTensor;
import org.tp4j.layout.Layout;
import org.tp4j.layout.Placement;
import org.tp4j.tensor.Storage;
import org.tp4j.tensor.Tensor;

/**
 * Whole activations that exist only while a module runs. What the parts of a module gather for themselves (sequence
 * parallelism) is freed when the module returns; each rank keeps its shard, and gathers again in the backward pass.
 */
public final class Gathers {
    private static final ThreadLocal<Gathers> MINE = ThreadLocal.withInitial(Gathers::new);

    private final List<MeshTensor> open = new ArrayList<>();
    private int depth;

    private Gathers() {}

    /**
     * The tensor with its shards along an axis gathered, as by {@link DTensor#redistribute(String, Placement)}. The caller
     * uses the result within the module that is running and does not keep it.
     */
    public static DTensor whileModuleRuns(DTensor shards, String axis, Placement wanted) {
        Layout before = shards.layout();
        int index = before.mesh().axisIndex(axis);
        if (!(before.placement(index) instanceof Placement.Shard && wanted.isWhole())) {
            return shards.redistribute(axis, wanted);
        }
        MeshTensor source = (MeshTensor) shards;
        MeshTensor whole = source.gather(before.with(index, wanted));
        boolean isNew = whole.array().storage() != source.array().storage();
        if (isNew && whole.regather() == null) {
            Regather earlier = source.regather(); // gathered along another axis before, and freed as well
            whole.setRegather(new Regather(earlier == null ? source : earlier.source(), whole));
            Gathers mine = MINE.get();
            if (mine.depth > 0) {
                mine.open.add(whole);
            }
        }
        return whole;
    }

    /** Called when a module begins; returns the mark for {@link #leave}. */
    public static int enter() {
        Gathers mine = MINE.get();
        mine.depth++;
        return mine.open.size();
    }

    /**
     * Called when a module returns: frees what was gathered within it, unless it is the result or a step of the tape needs
     * it as it is.
     *
     * @param mark returned by {@link #enter}
     * @param result the module's result
     */
    public static void leave(int mark, Tensor result) {
        Gathers mine = MINE.get();
        mine.depth--;
        if (mine.open.size() > mark) {
            mine.releaseDownTo(mark, List.of(result));
        }
    }

    /** As {@link #leave(int, Tensor)} for a module with several results. */
    public static void leave(int mark, List<Tensor> results) {
        Gathers mine = MINE.get();
        mine.depth--;
        mine.releaseDownTo(mark, results);
    }

    private void releaseDownTo(int mark, List<Tensor> results) {
        while (open.size() > mark) {
            MeshTensor whole = open.remove(open.size() - 1);
            Storage storage = whole.array().storage();
            if (results.stream()
                    .noneMatch(result -> ((EagerTensor) result).array().storage() == storage)) {
                Regather.release(whole);
            }
        }
    }

    /** Called when a module fails: what was gathered within it is left to its scope. */
    public static void abandon(int mark) {
        Gathers mine = MINE.get();
        mine.depth--;
        while (mine.open.size() > mark) {
            mine.open.remove(mine.open.size() - 1);
        }
    }
}
