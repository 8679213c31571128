package org.tp4j.nn;

import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.tp4j.autograd.Tensors;
import org.tp4j.autograd.internal.MeshBorder;
import org.tp4j.layout.DTensor;
import org.tp4j.layout.Layout;
import org.tp4j.layout.internal.Boxes;
import org.tp4j.tensor.Backend;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.ExecutionContext;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Region;
import org.tp4j.tensor.Scope;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.Tensor;

/**
 * A trainable tensor of a module: declared with a name, a global shape and initial values, then placed on a mesh (or not),
 * then materialized, when each rank allocates only its shard.
 */
public final class Parameter {
    private final Shape shape;
    private final Initializer initializer;
    private String name;
    private @Nullable Layout layout;
    private @Nullable Tensor tensor;
    private boolean trainable = true;
    private final Map<String, String> cutBy = new LinkedHashMap<>();
    private int placements;
    private @Nullable DType reduceType;

    /** Declares a parameter; it holds no memory yet. */
    public Parameter(String name, Shape shape, Initializer initializer) {
        this.name = name;
        this.shape = shape;
        this.initializer = initializer;
    }

    /** Its name within its module; once the model is materialized, its dotted path from the model. */
    public String name() {
        return name;
    }

    void rename(String path) {
        name = path;
    }

    /** Shape of the whole parameter. */
    public Shape shape() {
        return shape;
    }

    /** Its layout, null if it is on no mesh. */
    public @Nullable Layout layout() {
        return layout;
    }

    /**
     * Has the ranks hold the terms of products with it that are left pending over a mesh axis in another type, once it is
     * materialized; null for the product's own choice.
     */
    public void reduceIn(@Nullable DType type) {
        reduceType = type;
    }

    /** Whether it has memory. */
    public boolean isMaterialized() {
        return tensor != null;
    }

    /** How often it has been placed; state made for an earlier placement, such as an optimizer's, no longer fits. */
    public int placements() {
        return placements;
    }

    /** Whether gradients are computed for it. */
    public boolean isTrainable() {
        return trainable;
    }

    /** Freezes it or lets it train again. */
    public void setTrainable(boolean on) {
        trainable = on;
        if (tensor != null) {
            tensor.requiresGrad(on);
        }
    }

    /**
     * The tensor to compute with.
     *
     * @throws IllegalStateException if it has not been materialized
     */
    public Tensor tensor() {
        Tensor t = tensor;
        if (t == null) {
            String module = ExecutionContext.current().modulePath();
            throw new IllegalStateException("parameter '" + name + "' " + shape
                    + (module.isEmpty() ? "" : ", used in module '" + module + "',") + " has no values yet;"
                    + " HINT: call model.materialize(backend, dtype, seed) after placing the model");
        }
        return t;
    }

    /**
     * Places it on a mesh. Values it already has are kept: each rank keeps its part of them.
     *
     * @throws IllegalArgumentException if tensors of this shape cannot be laid out so; nothing is changed
     */
    public void place(Layout to) {
        Region region = to.region(shape);
        Tensor t = tensor;
        layout = to;
        placements++;
        if (t != null) {
            Tensor whole = t instanceof DTensor d ? d.fullTensor() : t;
            tensor = Scope.outside(() -> {
                NdArray local = NdArray.allocate(t.backend(), t.dtype(), region.local());
                Boxes.copy(whole.local(), region.offsets(), local, new long[shape.dims()], region.local());
                return leaf(local);
            });
        }
    }

    /**
     * As {@link #place(Layout)}, noting which plan entry shards it along a mesh axis, for the error message if a second entry tries to.
     *
     * @param axis name of the axis
     * @param entry text of the entry
     */
    public void place(Layout to, String axis, String entry) {
        place(to);
        cutBy.put(axis, entry);
    }

    /** The plan entry that cuts it along a mesh axis, null if none was noted. */
    public @Nullable String cutBy(String axis) {
        return cutBy.get(axis);
    }

    /** Gives it memory and initial values, drawn from the stream of its name. */
    void materialize(Backend backend, DType dtype, long seed) {
        placements += tensor == null ? 0 : 1;
        tensor = Scope.outside(() -> {
            Layout at = layout;
            Region region = at == null ? Region.whole(shape) : at.region(shape);
            NdArray local = NdArray.allocate(backend, dtype, region.local());
            initializer.fill(local, region, seed, Streams.of(name));
            return leaf(local);
        });
    }

    private Tensor leaf(NdArray local) {
        Layout at = layout;
        Tensor made = at == null ? Tensors.of(local) : MeshBorder.parameter(local, shape, at, reduceType);
        return made.requiresGrad(trainable);
    }

    /**
     * Overwrites its values; another float type is converted.
     *
     * @param values of this parameter's shape: a whole tensor, the same on every rank, or one on a mesh
     * @throws IllegalArgumentException if the shape differs
     */
    public void assign(Tensor values) {
        if (!values.shape().equals(shape)) {
            throw new IllegalArgumentException("parameter '" + name + "' has shape " + shape
                    + ", but the values given have shape " + values.shape());
        }
        NdArray mine = tensor().local();
        Tensor source = values.detach().cast(mine.dtype());
        Layout at = layout;
        if (at != null && source instanceof DTensor d && at.equals(d.layout())) {
            mine.assign(d.local());
            return;
        }
        NdArray whole = source instanceof DTensor d ? d.fullTensor().local() : source.local();
        Region region = at == null ? Region.whole(shape) : at.region(shape);
        Boxes.copy(whole, region.offsets(), mine, new long[shape.dims()], region.local());
        mine.storage().markChanged();
    }

    @Override
    public String toString() {
        return name + " " + shape + (layout == null ? "" : " " + layout);
    }
}
