package org.tp4j.parallel;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import org.tp4j.layout.Layout;
import org.tp4j.layout.Placement;
import org.tp4j.nn.Module;
import org.tp4j.nn.NamePattern;
import org.tp4j.nn.Parameter;

/**
 * A plan matched against a model: which style each module gets and where each parameter will lie. Strict: what does not fit
 * is found before anything is changed, all of it at once.
 *
 * <p>A key is a {@link NamePattern} of module names. The order of the map does not matter. Parameters that lie on the mesh
 * already (those of a {@link ColumnParallelLinear}, say) stay where they are unless the plan wants to move them, which is
 * refused.
 */
final class Plan {
    private final Map<String, Module> modules;
    private final MeshAxis axis;
    private final Map<String, ParallelStyle> styles = new LinkedHashMap<>();
    private final Map<Parameter, Placement> placements = new LinkedHashMap<>();
    private final Map<Parameter, Layout> layouts = new LinkedHashMap<>();
    private final Set<String> unfit = new HashSet<>();
    private final List<String> problems = new ArrayList<>();

    private Plan(Module model, MeshAxis axis) {
        this.modules = model.modules();
        this.axis = axis;
    }

    /**
     * Matches a plan.
     *
     * @throws PlanException listing keys that match nothing, modules that two keys match or that are split already, styles
     *     that do not fit their modules, parameters that would be cut in two ways, and parameters that lie on a mesh already
     */
    static Plan match(Module model, MeshAxis axis, Map<String, ? extends ParallelStyle> plan) {
        Plan matched = new Plan(model, axis);
        matched.matchKeys(new TreeMap<>(plan));
        matched.styles.forEach(matched::checkStyle);
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
                    String other = keyOf.putIfAbsent(path, key);
                    if (other == null) {
                        styles.put(path, style);
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

    private void checkStyle(String path, ParallelStyle style) {
        Module module = module(path);
        if (module.split() != null) {
            problems.add("module '" + path + "' is split already: " + module.split() + "; HINT: split a model once");
            unfit.add(path);
            return;
        }
        List<String> found = new ArrayList<>(style.problems(path, module, axis.size()));
        if (found.isEmpty()) {
            for (String name : style.placements(module).keySet()) {
                if (!module.ownParameters().containsKey(name)) {
                    found.add("'" + path + "' has no parameter '" + name + "', which " + style + " places; it has "
                            + module.ownParameters().keySet());
                }
            }
        }
        if (!found.isEmpty()) {
            problems.addAll(found);
            unfit.add(path);
        }
    }

    private void placeParameters() {
        Map<Parameter, String> first = new LinkedHashMap<>();
        modules.forEach((path, module) -> {
            if (unfit.contains(path)) {
                return;
            }
            ParallelStyle style = styles.get(path);
            Map<String, Placement> wished = style == null ? Map.of() : style.placements(module);
            module.ownParameters().forEach((name, parameter) -> {
                String full = path.isEmpty() ? name : path + "." + name;
                first.putIfAbsent(parameter, full);
                place(
                        parameter,
                        full,
                        Objects.requireNonNull(first.get(parameter)),
                        wished.getOrDefault(name, Placement.invariant()));
            });
        });
        placements.forEach(
                (parameter, placement) -> settle(parameter, Objects.requireNonNull(first.get(parameter)), placement));
    }

    private void place(Parameter parameter, String name, String firstName, Placement wanted) {
        Placement other = placements.putIfAbsent(parameter, wanted);
        if (other != null && !other.equals(wanted)) {
            problems.add("parameter '" + firstName + "' is shared with '" + name
                    + "', but the plan cuts it in two ways: " + other + " and " + wanted
                    + "; HINT: give both modules styles that place it alike");
        }
    }

    private void settle(Parameter parameter, String name, Placement wanted) {
        Layout has = parameter.layout();
        boolean moves = wanted != Placement.invariant();
        if (has != null && (moves || !has.mesh().equals(axis.mesh()))) {
            problems.add("parameter '" + name + "' lies on a mesh already: " + has + " on " + has.mesh()
                    + "; HINT: split a model once");
        }
        if (has != null) {
            return;
        }
        try {
            Layout layout = axis.layout(parameter.shape(), wanted);
            layout.region(parameter.shape());
            layouts.put(parameter, layout);
        } catch (IllegalArgumentException e) {
            problems.add(
                    "parameter '" + name + "' " + parameter.shape() + " cannot be " + wanted + ": " + e.getMessage());
        }
    }

    /** Places the parameters and installs the styles. */
    void carryOut() {
        layouts.forEach((parameter, layout) -> parameter.place(layout));
        styles.forEach((path, style) -> {
            Module module = module(path);
            style.install(module, axis);
            module.markSplit(style + " along " + axis.name());
        });
    }
}
