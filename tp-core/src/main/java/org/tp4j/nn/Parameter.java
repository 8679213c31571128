package org.tp4j.nn;

import org.jspecify.annotations.Nullable;
import org.tp4j.autograd.DTensors;
import org.tp4j.autograd.Tensors;
import org.tp4j.layout.DTensor;
import org.tp4j.layout.Layout;
import org.tp4j.tensor.Backend;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Region;
import org.tp4j.tensor.Scope;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.Tensor;

/**
 * A trained tensor of a module: declared with a name, a global shape and initial values, then placed on a mesh (or not),
 * then materialized, when each rank allocates only its shard.
 */
public final class Parameter {
    private final Shape shape;
    private final Initializer initializer;
    private String name;
    private @Nullable Layout layout;
    private @Nullable Tensor tensor;
    private boolean trainable = true;
    private int placements;

    /** Declares a parameter; it holds no memory yet. */
    public Parameter(String name, Shape shape, Initializer initializer) {
        this.name = name;
        this.shape = shape;
        this.initializer = initializer;
    }

    /** Name: that within its module, and once the model is materialized the dotted path from the model. */
    public String name() {
        return name;
    }

    void rename(String path) {
        name = path;
    }

    /** Sizes of the whole parameter. */
    public Shape shape() {
        return shape;
    }

    /** How it lies on a mesh, null if on none. */
    public @Nullable Layout layout() {
        return layout;
    }

    /** Whether it has memory. */
    public boolean isMaterialized() {
        return tensor != null;
    }

    /** How often it has been placed; what was made for an earlier placement (an optimizer) no longer fits. */
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
            throw new IllegalStateException("parameter '" + name + "' " + shape + " has no values yet;"
                    + " HINT: call model.materialize(backend, dtype, seed) after placing the model");
        }
        return t;
    }

    /** Places it on a mesh; values it has already are kept, each rank going on with its part. */
    public void place(Layout to) {
        layout = to;
        placements++;
        Tensor t = tensor;
        if (t != null) {
            Tensor whole = t instanceof DTensor d ? d.fullTensor() : t;
            Region region = to.region(shape);
            tensor = Scope.outside(() -> {
                NdArray local = NdArray.allocate(t.backend(), t.dtype(), region.local());
                org.tp4j.layout.Boxes.copy(
                        whole.local(), region.offsets(), local, new long[shape.dims()], region.local());
                return leaf(local);
            });
        }
    }

    /** Gives it memory and initial values; stream of random numbers: its name. */
    void materialize(Backend backend, DType dtype, long seed) {
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
        Tensor made = at == null ? Tensors.of(local) : DTensors.parameter(local, shape, at);
        return made.requiresGrad(trainable);
    }

    /**
     * Overwrites its values.
     *
     * @param whole the whole parameter, of its shape; its type is converted
     */
    public void assign(Tensor whole) {
        if (!whole.shape().equals(shape)) {
            throw new IllegalArgumentException("parameter '" + name + "' has shape " + shape + ", but values of shape "
                    + whole.shape() + " are given");
        }
        Tensor source = whole.detach().cast(tensor().dtype());
        Layout at = layout;
        NdArray local = tensor().local();
        if (at == null) {
            local.assign(source.local());
        } else {
            Region region = at.region(shape);
            org.tp4j.layout.Boxes.copy(source.local(), region.offsets(), local, new long[shape.dims()], region.local());
            local.storage().markChanged();
        }
    }

    @Override
    public String toString() {
        return name + " " + shape + (layout == null ? "" : " " + layout);
    }
}
