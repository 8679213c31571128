package org.tp4j.autograd.internal;

import org.jspecify.annotations.Nullable;
import org.tp4j.layout.Layout;
import org.tp4j.tensor.Backend;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.ExecutionContext;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Scope;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.Storage;
import org.tp4j.tensor.Tensor;

/** An eager tensor: this rank's array, and what computed it. On no mesh, unless it is a {@link MeshTensor}. */
public class EagerTensor extends FluentTensor {
    private final NdArray array;
    private boolean requiresGrad;
    private boolean parameter;
    private @Nullable DType reduceType;
    /** Whether the library made it from a number, which is the same on every rank. */
    private boolean number;

    private @Nullable Node node;
    private @Nullable EagerTensor grad;
    /** This tensor as Invariant on the mesh it last met. */
    private @Nullable MeshTensor met;

    private long hash;
    private int hashedVersion = -1;

    public EagerTensor(NdArray array) {
        this.array = array;
    }

    /** A number as a tensor of shape [], of the type and on the backend of {@code like}. */
    static EagerTensor number(Tensor like, double value) {
        return number(like.backend(), like.dtype(), value);
    }

    /** A number as a tensor of shape []. */
    static EagerTensor number(Backend backend, DType dtype, double value) {
        EagerTensor result = new EagerTensor(NdArray.full(backend, dtype, Shape.scalar(), value));
        result.number = true;
        return result;
    }

    /** A tensor of this array in this layout, or on no mesh. */
    static EagerTensor of(NdArray array, Shape global, @Nullable Layout layout) {
        return of(array, global, layout, array.dtype());
    }

    /** The same for a tensor of type {@code dtype}, which is the array's unless it is a pending sum. */
    static EagerTensor of(NdArray array, Shape global, @Nullable Layout layout, DType dtype) {
        return layout == null ? new EagerTensor(array) : new MeshTensor(array, global, layout, dtype);
    }

    /** Its layout, or null on no mesh. */
    @Nullable Layout layoutOrNull() {
        return null;
    }

    /** The array, which may still be arriving. */
    final NdArray array() {
        return array;
    }

    final @Nullable Node node() {
        return node;
    }

    final boolean isParameter() {
        return parameter;
    }

    final boolean isNumber() {
        return number;
    }

    /** Marks this leaf as a model parameter, which is promoted from Invariant to Replicate where needed. */
    public final void markParameter(@Nullable DType reduceIn) {
        parameter = true;
        reduceType = reduceIn;
    }

    /** The type in which products with it hold the terms of pending sums; null if it does not say. */
    final @Nullable DType reduceType() {
        return reduceType;
    }

    /** Takes over what another tensor of the same values says of its use. */
    final EagerTensor usedAs(EagerTensor other) {
        reduceType = other.reduceType;
        return this;
    }

    /** This tensor as Invariant on the mesh it last met, or null. */
    final @Nullable MeshTensor met() {
        return met;
    }

    /** Remembers the tensor it became on a mesh. */
    final void noteMet(MeshTensor onMesh) {
        met = onMesh;
    }

    /** A hash of its elements, computed once for each version of them. */
    final long contentHash() {
        int version = array.storage().version();
        if (version != hashedVersion) {
            hash = MeshBorder.hash(local());
            hashedVersion = version;
        }
        return hash;
    }

    /** Records what computed it. */
    final void computedBy(Node from) {
        node = from;
        requiresGrad = true;
    }

    @Override
    public Shape shape() {
        return array.shape();
    }

    @Override
    public DType dtype() {
        return array.dtype();
    }

    @Override
    public final Backend backend() {
        return array.backend();
    }

    @Override
    public final NdArray local() {
        return array.await();
    }

    @Override
    public final boolean requiresGrad() {
        return requiresGrad;
    }

    @Override
    public Tensor requiresGrad(boolean wanted) {
        if (node != null) {
            throw new IllegalStateException("requiresGrad is set on leaves, but this tensor of shape " + shape()
                    + " was computed by " + node.name() + "; HINT: detach() it first");
        }
        if (wanted && !dtype().isFloating()) {
            throw new IllegalStateException("a tensor of type " + dtype() + " has no gradient; HINT: use a float type");
        }
        requiresGrad = wanted;
        return this;
    }

    @Override
    public final @Nullable Tensor grad() {
        return grad;
    }

    @Override
    public final void setGrad(@Nullable Tensor gradient) {
        if (gradient == null) {
            clearGrad();
            return;
        }
        if (node != null || !requiresGrad) {
            throw new IllegalStateException("setGrad of a tensor of shape " + shape()
                    + (node != null ? " that was computed by " + node.name() : " that does not require a gradient")
                    + "; HINT: only leaves with requiresGrad(true) keep a gradient");
        }
        if (!gradient.shape().equals(shape()) || !gradient.dtype().isFloating()) {
            throw new IllegalArgumentException("the gradient of " + dtype() + shape() + " is set to " + gradient.dtype()
                    + gradient.shape() + "; HINT: it has the same shape and a float type");
        }
        EagerTensor given = GradientLayouts.given(this, (EagerTensor) gradient);
        EagerTensor mine = own(GradientLayouts.typed(given, dtype().accumulator()), true);
        clearGrad();
        grad = mine;
    }

    final @Nullable EagerTensor gradOrNull() {
        return grad;
    }

    @Override
    public final void clearGrad() {
        EagerTensor old = grad;
        grad = null;
        if (old != null && !old.array.storage().isReleased()) {
            old.array.storage().release();
        }
    }

    /**
     * Adds to the gradient.
     *
     * @param arrived in a layout that this leaf's gradient can have
     * @param shared whether its memory is also used elsewhere, so that it must be copied
     */
    final void accumulate(EagerTensor arrived, boolean shared) {
        EagerTensor have = grad;
        if (have == null) {
            grad = own(arrived, shared);
        } else if (java.util.Objects.equals(have.layoutOrNull(), arrived.layoutOrNull())) {
            backend().elementwise().addScaled(1, arrived.local(), have.local());
            have.array.storage().markChanged();
        } else {
            grad = own(GradientLayouts.addPending(have, arrived), false);
            have.array.storage().release();
        }
    }

    /** Replaces the gradient by one in another layout and takes ownership of its memory. */
    final void replaceGrad(EagerTensor next) {
        EagerTensor old = grad;
        grad = own(next, false);
        if (old != null && old.array.storage() != next.array.storage()) {
            old.array.storage().release();
        }
    }

    private static EagerTensor own(EagerTensor arrived, boolean shared) {
        Storage storage = arrived.array.storage();
        Scope scope = ExecutionContext.current().scope();
        boolean part = storage.size() != arrived.array.elements();
        if (shared || part) {
            NdArray copy = Scope.outside(() -> arrived.array.await().copy());
            return of(copy, arrived.shape(), arrived.layoutOrNull(), arrived.dtype());
        }
        for (Scope s = scope; s != null; s = s.parent()) {
            s.disown(storage);
        }
        return arrived;
    }

    @Override
    public Tensor detach() {
        return new EagerTensor(array);
    }

    @Override
    public final void backward() {
        BackwardPass.run(this, GradientLayouts.seed(this));
    }

    @Override
    public final void backward(Tensor gradient) {
        if (!gradient.shape().equals(shape()) || gradient.dtype() != dtype()) {
            throw new IllegalArgumentException("the gradient of " + dtype() + shape() + " is given as "
                    + gradient.dtype() + gradient.shape() + "; HINT: it has the same shape and type");
        }
        BackwardPass.run(this, GradientLayouts.given(this, (EagerTensor) gradient));
    }

    @Override
    public double item() {
        if (shape().elements() != 1) {
            throw new IllegalStateException(
                    "item() of a tensor of shape " + shape() + ": it has " + shape().elements() + " elements, not one");
        }
        return toDoubles()[0];
    }

    /**
     * Refuses to show part of a tensor as if it were the whole.
     *
     * @param call what was called
     */
    void requireWhole(String call) {}

    @Override
    public final double[] toDoubles() {
        requireWhole("toDoubles");
        return array.toDoubles();
    }

    @Override
    public final float[] toFloats() {
        requireWhole("toFloats");
        return array.toFloats();
    }

    @Override
    public final long[] toLongs() {
        requireWhole("toLongs");
        return array.toLongs();
    }

    /** Type, shape, layout, and this rank's elements if there are few; never communicates. */
    @Override
    public String toString() {
        String head = dtype() + shape().toString() + (layoutOrNull() == null ? "" : " " + layoutOrNull());
        return array.elements() <= 16 ? head + " " + java.util.Arrays.toString(array.toDoubles()) : head;
    }
}
