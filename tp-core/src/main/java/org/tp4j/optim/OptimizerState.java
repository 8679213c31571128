package org.tp4j.optim;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;
import org.tp4j.autograd.Tensors;
import org.tp4j.autograd.internal.MeshBorder;
import org.tp4j.layout.DTensor;
import org.tp4j.layout.Layout;
import org.tp4j.layout.internal.Boxes;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Region;
import org.tp4j.tensor.Scope;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.Tensor;

/** An optimizer's state to named tensors and back; see {@link Optimizer#state}. */
final class OptimizerState {
    private static final String PREFIX = "optimizer.";
    private static final String STEP = "step";
    private static final String MASTER = "master";

    private OptimizerState() {}

    private static String join(Slot slot, String part) {
        return slot.name() + "." + part;
    }

    /** Names of the arrays of a parameter's state in the order of {@link #arrays}. */
    private static List<String> names(Slot slot, List<String> stateNames) {
        List<String> names = new ArrayList<>();
        stateNames.forEach(part -> names.add(join(slot, part)));
        if (slot.isHalf()) {
            names.add(join(slot, MASTER));
        }
        return names;
    }

    private static List<NdArray> arrays(Slot slot) {
        List<NdArray> arrays = new ArrayList<>(slot.state());
        NdArray master = slot.master();
        if (master != null) {
            arrays.add(master);
        }
        return arrays;
    }

    static Map<String, Tensor> of(
            List<Slot> slots, List<String> stateNames, long stepCount, String kind, Map<String, Double> description) {
        Map<String, Tensor> all = new LinkedHashMap<>();
        all.put(STEP, number(slots.get(0), stepCount));
        description.forEach((option, value) ->
                all.put(PREFIX + kind + "." + option, Tensors.of(slots.get(0).backend(), new double[] {value})));
        for (Slot slot : slots) {
            if (slot.hasState()) {
                all.put(join(slot, STEP), number(slot, slot.steps()));
                List<String> names = names(slot, stateNames);
                List<NdArray> arrays = arrays(slot);
                for (int i = 0; i < arrays.size(); i++) {
                    all.put(names.get(i), laidOut(slot, arrays.get(i)));
                }
            }
        }
        return all;
    }

    private static Tensor number(Slot slot, long value) {
        return Tensors.of(slot.backend(), new long[] {value});
    }

    private static Tensor laidOut(Slot slot, NdArray local) {
        Layout layout = slot.layout();
        Tensor plain = Tensors.of(local);
        return layout == null
                ? plain
                : MeshBorder.trusted(plain, slot.parameter().shape(), layout);
    }

    /** Overwrites the state of all slots, or of none; returns the number of steps finished. */
    static long load(
            List<Slot> slots,
            List<String> stateNames,
            Map<String, ? extends Tensor> values,
            String kind,
            @Nullable LongFunction<Map<String, Double>> description) {
        List<String> problems = new ArrayList<>();
        Set<String> known = new LinkedHashSet<>();
        List<Slot> given = new ArrayList<>();
        checkNumber(STEP, values, known, problems);
        checkKind(kind, values, known, problems);
        if (description != null && problems.isEmpty()) {
            checkOptions(kind, description.apply(count(values.get(STEP))), values, problems);
        }
        for (Slot slot : slots) {
            if (slot.hasState() || values.containsKey(join(slot, STEP))) {
                given.add(slot);
                checkNumber(join(slot, STEP), values, known, problems);
                for (String name : names(slot, stateNames)) {
                    checkArray(name, slot.parameter().shape(), values, known, problems);
                }
            }
        }
        values.forEach((name, value) -> {
            if (!known.contains(name)) {
                problems.add("unknown: '" + name + "' " + value.shape());
            }
        });
        if (!problems.isEmpty()) {
            throw new IllegalArgumentException("the state does not fit this " + kind + ", nothing was changed; "
                    + String.join("; ", problems) + "; HINT: it must come from the same kind of optimizer with the same"
                    + " parameters, types and options; loadStateWithOtherOptions goes on with other options");
        }
        for (Slot slot : given) {
            slot.ensureState(stateNames.size());
            List<String> names = names(slot, stateNames);
            List<NdArray> arrays = arrays(slot);
            for (int i = 0; i < arrays.size(); i++) {
                copyPart(slot, values.get(names.get(i)), arrays.get(i));
            }
            slot.loaded(count(values.get(join(slot, STEP))));
        }
        return count(values.get(STEP));
    }

    /** What the state says of its optimizer is known; that it is of this kind. */
    private static void checkKind(
            String kind, Map<String, ? extends Tensor> values, Set<String> known, List<String> problems) {
        Set<String> kinds = new TreeSet<>();
        for (String name : values.keySet()) {
            int dot = name.indexOf('.', PREFIX.length());
            if (name.startsWith(PREFIX) && dot > 0) {
                known.add(name);
                kinds.add(name.substring(PREFIX.length(), dot));
            }
        }
        if (kinds.isEmpty()) {
            problems.add("missing: what optimizer it is of, such as '" + PREFIX + kind + ".learning_rate'");
        } else if (!kinds.equals(Set.of(kind))) {
            problems.add("it is the state of " + String.join(" and ", kinds) + ", not of " + kind);
        }
    }

    private static void checkOptions(
            String kind, Map<String, Double> mine, Map<String, ? extends Tensor> values, List<String> problems) {
        mine.forEach((option, value) -> {
            Tensor given = values.get(PREFIX + kind + "." + option);
            if (given == null) {
                problems.add("option " + option + ": " + value + " here, none in the state");
            } else if (given.shape().elements() != 1 || given.toDoubles()[0] != value) {
                problems.add("option " + option + ": " + value + " here, "
                        + (given.shape().elements() == 1 ? given.toDoubles()[0] : given.shape()) + " in the state");
            }
        });
        for (String name : values.keySet()) {
            String prefix = PREFIX + kind + ".";
            if (name.startsWith(prefix) && !mine.containsKey(name.substring(prefix.length()))) {
                problems.add("option " + name.substring(prefix.length()) + ": none here, but one in the state");
            }
        }
    }

    private static void checkNumber(
            String name, Map<String, ? extends Tensor> values, Set<String> known, List<String> problems) {
        known.add(name);
        Tensor value = values.get(name);
        if (value == null) {
            problems.add("missing: '" + name + "'");
        } else if (value.shape().elements() != 1 || !value.dtype().isInteger()) {
            problems.add("'" + name + "' must be one whole number, is " + value.dtype() + value.shape());
        } else if (value.toLongs()[0] < 0) {
            problems.add("'" + name + "' is " + value.toLongs()[0] + ", but a number of steps is at least 0");
        }
    }

    private static void checkArray(
            String name, Shape shape, Map<String, ? extends Tensor> values, Set<String> known, List<String> problems) {
        known.add(name);
        Tensor value = values.get(name);
        if (value == null) {
            problems.add("missing: '" + name + "' " + shape);
        } else if (!value.shape().equals(shape)) {
            problems.add("shape of '" + name + "': " + shape + " expected, " + value.shape() + " given");
        } else if (!value.dtype().isFloating()) {
            problems.add("type of '" + name + "': a float expected, " + value.dtype() + " given");
        }
    }

    private static long count(@Nullable Tensor number) {
        return Objects.requireNonNull(number).toLongs()[0];
    }

    /** Writes this rank's part of {@code value} over {@code to}. */
    @SuppressWarnings("try") // a scope that only owns
    private static void copyPart(Slot slot, @Nullable Tensor value, NdArray to) {
        try (Scope scope = Scope.open("loading " + slot.name())) {
            Layout layout = slot.layout();
            NdArray part;
            if (layout != null
                    && value instanceof DTensor onMesh
                    && onMesh.layout().equals(layout)) {
                part = onMesh.local();
            } else {
                Tensor present = Objects.requireNonNull(value);
                NdArray whole = (present instanceof DTensor onMesh ? onMesh.fullTensor() : present).local();
                Region region = layout == null
                        ? Region.whole(slot.parameter().shape())
                        : layout.region(slot.parameter().shape());
                part = NdArray.allocate(whole.backend(), whole.dtype(), region.local());
                Boxes.copy(whole, region.offsets(), part, new long[region.offsets().length], region.local());
            }
            to.backend().elementwise().cast(part, to);
            to.storage().markChanged();
        }
    }
}
