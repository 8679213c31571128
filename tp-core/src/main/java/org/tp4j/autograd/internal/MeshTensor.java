package org.tp4j.autograd.internal;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.tp4j.layout.DTensor;
import org.tp4j.layout.Layout;
import org.tp4j.layout.LayoutException;
import org.tp4j.layout.Placement;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.ExecutionContext;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.Tensor;

/** A tensor on a mesh. */
public final class MeshTensor extends EagerTensor implements DTensor {
    private final Shape global;
    private final Layout layout;
    private final DType dtype;
    private @Nullable Map<Layout, Redistributed> redistributed;
    /** The same for {@link Gathers}, kept apart since the result of a user's own redistribution may be kept. */
    private @Nullable Map<Layout, Redistributed> gathered;

    private @Nullable Regather regather;

    /** The result of a redistribution, and the conditions under which it may be returned again. */
    private record Redistributed(MeshTensor result, boolean recorded, int version) {
        boolean holds(int versionNow, boolean recordedNow) {
            return recorded == recordedNow
                    && version == versionNow
                    && !result.array().storage().isReleased()
                    && (result.node() == null || !result.node().isSpent());
        }
    }

    public MeshTensor(NdArray local, Shape global, Layout layout) {
        this(local, global, layout, local.dtype());
    }

    /** A tensor of type {@code dtype}; a pending sum's local array, its terms, may be of a wider type. */
    MeshTensor(NdArray local, Shape global, Layout layout, DType dtype) {
        super(local);
        this.global = global;
        this.layout = layout;
        this.dtype = dtype;
    }

    @Override
    public DType dtype() {
        return dtype;
    }

    @Override
    public Shape shape() {
        return global;
    }

    @Override
    public Layout layout() {
        return layout;
    }

    @Override
    Layout layoutOrNull() {
        return layout;
    }

    /** How to gather it again once it has been freed; null if it is kept. */
    @Nullable Regather regather() {
        return regather;
    }

    void setRegather(Regather from) {
        regather = from;
    }

    @Override
    public Tensor detach() {
        return new MeshTensor(array(), global, layout, dtype);
    }

    @Override
    void requireWhole(String call) {
        for (int a = 0; a < layout.placements().size(); a++) {
            Placement placement = layout.placement(a);
            if (!placement.isWhole() && layout.mesh().axis(a).size() > 1) {
                throw new LayoutException(
                        call,
                        call + "() of a tensor " + global + " laid out " + layout + ", of which this rank holds "
                                + (placement instanceof Placement.Partial ? "a term " : "") + array().shape()
                                + "; HINT: fullTensor()." + call + "() gives the whole on every rank, local()." + call
                                + "() this rank's part");
            }
        }
    }

    @Override
    public double item() {
        for (int a = 0; a < layout.placements().size(); a++) {
            if (layout.placement(a) instanceof Placement.Partial) {
                String axis = layout.mesh().axis(a).name();
                throw new LayoutException(
                        "item",
                        "item() of a tensor laid out " + layout + ": on mesh axis '" + axis
                                + "' its value is pending; HINT: redistribute(\"" + axis
                                + "\", Placement.invariant()) first");
            }
        }
        return super.item();
    }

    @Override
    public DTensor redistribute(Placement... placements) {
        return redistribute(Layout.of(layout.mesh(), global.dims(), placements));
    }

    @Override
    public DTensor redistribute(Layout target) {
        if (target.equals(layout)) {
            return this;
        }
        if (redistributed == null) {
            redistributed = new HashMap<>(4);
        }
        return redistribute(target, redistributed);
    }

    /** As {@link #redistribute(Layout)}, with a result that {@link Gathers} may free. */
    MeshTensor gather(Layout target) {
        if (gathered == null) {
            gathered = new HashMap<>(4);
        }
        return redistribute(target, gathered);
    }

    private MeshTensor redistribute(Layout target, Map<Layout, Redistributed> cache) {
        boolean recording = ExecutionContext.current().gradientsRecorded() && requiresGrad();
        int version = array().storage().version();
        Redistributed earlier = cache.get(target);
        if (earlier != null && earlier.holds(version, recording)) {
            return earlier.result;
        }
        MeshTensor result = Redistribution.apply(this, target, recording);
        cache.put(target, new Redistributed(result, recording, version));
        return result;
    }

    @Override
    public Tensor fullTensor() {
        DTensor whole = redistribute(Layout.uniform(layout.mesh(), global.dims(), Placement.invariant()));
        Placement[] same = whole.layout().placements().toArray(new Placement[0]);
        return whole.toLocal(same);
    }

    @Override
    public Tensor toLocal(Placement... gradientPlacements) {
        List<Placement> placements = List.of(gradientPlacements);
        return MeshBorder.leave(this, Layout.of(layout.mesh(), global.dims(), placements, layout.cutOrder()));
    }
}
