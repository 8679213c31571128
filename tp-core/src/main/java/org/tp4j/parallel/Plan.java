package org.tp4j.parallel;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.tp4j.layout.Layout;
import org.tp4j.layout.Placement;
import org.tp4j.nn.Module;
import org.tp4j.nn.Parameter;
import org.tp4j.nn.internal.NamePattern;

/**
 * A plan matched against a model: which style each module gets and where each parameter will lie. Strict: what does not fit
 * is found before anything is changed, all of it at once.
 *
 * <p>A key is a {@link NamePattern} of module names. The order of the map does not matter. A plan adds to what earlier ones
 * and layers such as {@link ColumnParallelLinear} have done: a parameter keeps how it lies along other axes, and is cut
 * inside those cuts. A second cut along one axis is refused.
 */
final class Plan {
    private final Map<String, Module> modules;
    private final MeshAxis axis;
    private final Map<String, Entry> entries = new LinkedHashMap<>();
    private final Map<Parameter, Wanted> placements = new LinkedHashMap<>();
    private final Map<Parameter, Layout> layouts = new LinkedHashMap<>();
    private final Set<String> unfit = new HashSet<>();
    private final List<String> problems = new ArrayList<>();

    /** An entry of the plan. */
    private record Entry(String key, ParallelStyle style) {
        @Override
        public String toString() {
            return "'" + key + "' -> " + style;
        }
    }

    /**
     * The wanted placement of a parameter along the axis.
     *
     * @param name its first dotted path
     * @param by the entry that asks for it; null if none does and it is Invariant
     */
    private record Wanted(
            String name, Placement placement, @Nullable Entry by) {}

    private Plan(Module model, MeshAxis axis) {
        this.modules = model.modules();
        this.axis = axis;
    }

    /**
     * Matches a plan.
     *
     * @throws PlanException listing keys that match nothing, modules that two keys match or that are split along the axis
     *     already, styles that do not fit their modules,
     *     parameters that would be cut in two ways or twice along the axis, and parameters that lie on another mesh
     */
    static Plan match(Module model, MeshAxis axis, Map<String, ? extends ParallelStyle> plan) {
        Plan matched = new Plan(model, axis);
        matched.matchKeys(new TreeMap<>(plan));
        matched.entries.forEach(matched::checkStyle);
        matched.placeParameters();
        if (!matched.problems.isEmpty()) {
            throw new PlanException(matched.problems);
        }
        return matched;
    }

    private Module module(String path) {
        return Objects.requireNonNull(modules.get(path));
    }

    private void matchKeys(Map<String, ? extends ParallelStyle> plan) {
        Map<String, String> keyOf = new LinkedHashMap<>();
        plan.forEach((key, style) -> {
            NamePattern pattern = NamePattern.of(key);
            boolean hit = false;
            for (String path : modules.keySet()) {
                if (pattern.matches(path)) {
                    hit = true;
                    if (style == null) {
                        problems.add("module '" + path + "' has no style: key '" + key
                                + "' is mapped to null; HINT: take the" + " key out of the plan, or give it a style");
                        continue;
                    }
                    String other = keyOf.putIfAbsent(path, key);
                    if (other == null) {
                        entries.put(path, new Entry(key, style));
                    } else {
                        problems.add("module '" + path + "' is matched by two keys, '" + other + "' and '" + key
                                + "'; HINT: narrow one, or join their styles under one key with style.and(other)");
                    }
                }
            }
            if (!hit) {
                problems.add("key '" + key + "' matches no module; HINT: the nearest name is '"
                        + pattern.nearest(modules.keySet()) + "', and * stands for one segment");
            }
        });
    }

    private void checkStyle(String path, Entry entry) {
        Module module = module(path);
        ParallelStyle style = entry.style();
        List<String> found = new ArrayList<>(style.validate(path, module, axis.size()));
        if (found.isEmpty()) {
            for (String name : style.placements(module).keySet()) {
                if (!module.ownParameters().containsKey(name)) {
                    found.add("'" + path + "' has no parameter '" + name + "', which " + style + " places; it has "
                            + module.ownParameters().keySet());
                }
            }
        }
        String before = module.splitBy(axis.name());
        if (found.isEmpty() && before != null && !cutsAgain(module, style)) {
            found.add("module '" + path + "' would be split twice along mesh axis '" + axis.name() + "': by " + before
                    + " and by " + entry
                    + "; HINT: take it out of one of the plans, or combine the styles under one key"
                    + " with style.and(other)");
        }
        if (!found.isEmpty()) {
            problems.addAll(found);
            unfit.add(path);
        }
    }

    /** Whether a style would shard a parameter that is already sharded along the axis, which is reported for the parameter. */
    private boolean cutsAgain(Module module, ParallelStyle style) {
        return style.placements(module).keySet().stream()
                .map(name -> Objects.requireNonNull(module.ownParameters().get(name)))
                .anyMatch(parameter -> parameter.cutBy(axis.name()) != null);
    }

    private void placeParameters() {
        Map<Parameter, String> first = new LinkedHashMap<>();
        modules.forEach((path, module) -> {
            if (unfit.contains(path)) {
                return;
            }
            Entry entry = entries.get(path);
            Map<String, Placement> asked =
                    entry == null ? Map.of() : entry.style().placements(module);
            module.ownParameters().forEach((name, parameter) -> {
                String full = path.isEmpty() ? name : path + "." + name;
                first.putIfAbsent(parameter, full);
                Placement placement = asked.getOrDefault(name, Placement.invariant());
                boolean cut = !placement.equals(Placement.invariant());
                String firstName = Objects.requireNonNull(first.get(parameter));
                want(parameter, full, new Wanted(firstName, placement, cut ? entry : null));
            });
        });
        placements.forEach(this::place);
    }

    private void want(Parameter parameter, String name, Wanted wanted) {
        Wanted other = placements.putIfAbsent(parameter, wanted);
        if (other != null && !other.placement().equals(wanted.placement())) {
            problems.add("parameter '" + other.name() + "' is shared with '" + name
                    + "', but the plan cuts it in two ways: " + other.placement() + " and " + wanted.placement()
                    + " (" + said(other.by()) + " and " + said(wanted.by()) + "); HINT: give both modules styles that"
                    + " place it alike");
        }
    }

    private static String said(@Nullable Entry entry) {
        return entry == null ? "no entry" : entry.toString();
    }

    private void place(Parameter parameter, Wanted wanted) {
        Layout has = parameter.layout();
        if (has != null && !has.mesh().equals(axis.mesh())) {
            problems.add("parameter '" + wanted.name() + "' lies on another mesh: "
                    + axis.mesh().differenceTo(has.mesh()) + " and apply each plan along one of its axes by name");
        } else if (has == null || wanted.by() != null) {
            Placement before = has == null ? Placement.invariant() : axis.placementOf(has);
            if (before.equals(Placement.invariant())) {
                layOut(parameter, wanted);
            } else {
                problems.add("parameter '" + wanted.name() + "' would be cut twice along mesh axis '" + axis.name()
                        + "': it is " + before + " by "
                        + Objects.requireNonNullElse(parameter.cutBy(axis.name()), "Parameter.place") + ", and "
                        + wanted.by()
                        + " wants " + wanted.placement() + "; HINT: take it out of one of the plans");
            }
        }
    }

    private void layOut(Parameter parameter, Wanted wanted) {
        try {
            Layout layout = axis.layout(parameter, wanted.placement());
            layout.region(parameter.shape());
            layouts.put(parameter, layout);
        } catch (IllegalArgumentException e) {
            problems.add("parameter '" + wanted.name() + "' " + parameter.shape() + " cannot be " + wanted.placement()
                    + ": " + e.getMessage());
        }
    }

    /** Places the parameters and installs the styles. */
    void carryOut() {
        layouts.forEach((parameter, layout) -> {
            Entry by = Objects.requireNonNull(placements.get(parameter)).by();
            if (by == null) {
                parameter.place(layout);
            } else {
                parameter.place(layout, axis.name(), by.toString());
            }
        });
        entries.forEach((path, entry) -> {
            Module module = module(path);
            entry.style().install(module, axis);
            module.addSplit(entry.style().toString(), axis.name(), entry.toString());
        });
    }
}
