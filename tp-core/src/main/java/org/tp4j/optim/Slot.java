package org.tp4j.optim;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.tp4j.layout.Layout;
import org.tp4j.layout.LayoutException;
import org.tp4j.layout.Placement;
import org.tp4j.nn.Parameter;
import org.tp4j.tensor.Backend;
import org.tp4j.tensor.BinaryFunction;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.ParameterUpdate;
import org.tp4j.tensor.Scope;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.StepNumber;
import org.tp4j.tensor.Tensor;

/** One parameter as its optimizer sees it: what it was when the optimizer was made, and this rank's part of the state. */
final class Slot {
    private final String name;
    private final Parameter parameter;
    private final ParameterGroup group;
    private final Tensor tensor;
    private final int placements;
    private final @Nullable Layout layout;
    private List<NdArray> state = List.of();
    private boolean hasState;
    private @Nullable NdArray master;
    private int roundedVersion;
    private long steps;

    /**
     * Captures a parameter as it is now.
     *
     * @throws IllegalStateException if it has no values yet
     * @throws LayoutException if it is Replicate on a mesh axis
     */
    Slot(String name, Parameter parameter, ParameterGroup group, String optimizer) {
        if (!parameter.isMaterialized()) {
            throw new IllegalStateException("parameter '" + name + "' " + parameter.shape() + " has no values yet, so "
                    + optimizer + " cannot train it; HINT: first Parallelize.apply(model, mesh, plan) and"
                    + " model.materialize(backend, dtype, seed), then make the optimizer");
        }
        this.name = name;
        this.parameter = parameter;
        this.group = group;
        this.tensor = parameter.tensor();
        this.placements = parameter.placements();
        this.layout = parameter.layout();
        for (int a = 0; layout != null && a < layout.mesh().axisCount(); a++) {
            Placement p = layout.placement(a);
            if (!(p instanceof Placement.Shard) && p != Placement.invariant()) {
                throw ReadyGradient.pending(name, layout.mesh().axis(a).name());
            }
        }
    }

    String name() {
        return name;
    }

    Parameter parameter() {
        return parameter;
    }

    ParameterGroup group() {
        return group;
    }

    Backend backend() {
        return tensor.backend();
    }

    @Nullable Layout layout() {
        return layout;
    }

    /** Number of steps this parameter has taken. */
    long steps() {
        return steps;
    }

    /** This rank's parts of the state, in the order of the optimizer's names. */
    List<NdArray> state() {
        return state;
    }

    @Nullable NdArray master() {
        return master;
    }

    boolean hasState() {
        return hasState;
    }

    boolean isHalf() {
        return tensor.dtype().isHalf();
    }

    /** This rank's part of the parameter. */
    NdArray values() {
        return tensor.local();
    }

    /** Whether the next step changes it. */
    boolean hasGradient() {
        return parameter.isTrainable() && tensor.grad() != null;
    }

    /**
     * Checks that the parameter is still the one the optimizer was made for.
     *
     * @throws LayoutException if its layout has changed since
     * @throws IllegalStateException if it has been placed or materialized again since
     */
    void checkUnmoved(String optimizer) {
        if (!Objects.equals(parameter.layout(), layout)) {
            throw new LayoutException(
                    "optimizer",
                    "parameter '" + name + "' was placed on a mesh, as " + parameter.layout() + ", after this "
                            + optimizer + " was made, whose state no longer fits it; HINT: first"
                            + " Parallelize.apply(model, mesh, plan), then make the optimizer");
        }
        if (parameter.placements() != placements || parameter.tensor() != tensor) {
            throw new IllegalStateException("parameter '" + name + "' was placed or materialized again after this "
                    + optimizer + " was made, whose state no longer fits it; HINT: first model.materialize(backend,"
                    + " dtype, seed), then make the optimizer");
        }
    }

    /** Allocates the state, zeros laid out like the parameter, and the 32-bit copy of a 16-bit one; idempotent. */
    void ensureState(int arrays) {
        if (!hasState) {
            Scope.outside(() -> {
                NdArray values = tensor.local();
                DType wide = tensor.dtype().accumulator();
                List<NdArray> made = new ArrayList<>();
                for (int i = 0; i < arrays; i++) {
                    made.add(NdArray.full(backend(), wide, values.shape(), 0));
                }
                state = List.copyOf(made);
                if (isHalf()) {
                    NdArray copy = NdArray.allocate(backend(), wide, values.shape());
                    backend().elementwise().cast(values, copy);
                    master = copy;
                    roundedVersion = values.storage().version();
                }
                hasState = true;
                return state;
            });
        }
    }

    /** The arguments of the next step. */
    ParameterUpdate next(StepNumber count, StepNumber rate, double weightDecay) {
        refreshMaster();
        NdArray gradient = Objects.requireNonNull(tensor.grad()).local();
        return new ParameterUpdate(tensor.local(), master, gradient, state, count, rate, weightDecay);
    }

    /** Records that the step has been taken. */
    void stepped() {
        steps++;
        for (NdArray array : state) {
            array.storage().markChanged();
        }
        NdArray copy = master;
        if (copy != null) {
            copy.storage().markChanged();
        }
        tensor.local().storage().markChanged();
        roundedVersion = tensor.local().storage().version();
    }

    /** Records that state and 32-bit copy have been loaded. */
    void loaded(long stepsFinished) {
        steps = stepsFinished;
        roundedVersion = tensor.local().storage().version() - 1; // so that the copy is compared with the parameter
    }

    /**
     * If the parameter has been written since the last step (by a checkpoint, an assignment), its values win over the 32-bit
     * copy, except where the copy rounds to them.
     */
    @SuppressWarnings("try") // a scope that only owns
    private void refreshMaster() {
        NdArray copy = master;
        NdArray values = tensor.local();
        if (copy == null || values.storage().version() == roundedVersion) {
            return;
        }
        try (Scope scope = Scope.open("32-bit copy of " + name)) {
            Shape shape = values.shape();
            NdArray rounded = NdArray.allocate(backend(), values.dtype(), shape);
            backend().elementwise().cast(copy, rounded);
            NdArray same = NdArray.allocate(backend(), DType.BOOL, shape);
            backend().elementwise().binary(BinaryFunction.EQ, rounded, values, same);
            NdArray widened = NdArray.allocate(backend(), copy.dtype(), shape);
            backend().elementwise().cast(values, widened);
            backend().elementwise().where(same, copy, widened, copy);
            copy.storage().markChanged();
        }
        roundedVersion = values.storage().version();
    }
}
