package org.tp4j.parallel;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.tp4j.layout.Placement;
import org.tp4j.nn.Module;
import org.tp4j.nn.Parameter;

/**
 * A plan matched against a model: which style each module gets and where each parameter will lie. Strict: what does not fit
 * is found before anything is changed, all of it at once.
 *
 * <p>A key is a dotted module name in which {@code *} stands for one whole segment: {@code layers.*.mlp.up_proj}. The order
 * of the map does not matter.
 */
final class Plan {
    private final Map<String, ParallelStyle> styles = new LinkedHashMap<>();
    private final Map<Parameter, Placement> placements = new LinkedHashMap<>();
    private final List<String> problems = new ArrayList<>();

    private Plan() {}

    /**
     * Matches a plan.
     *
     * @throws PlanException listing keys that match nothing, modules that two keys match, styles that do not fit their
     *     modules, shared parameters that would be cut in two ways, and parameters that lie on a mesh already
     */
    static Plan match(Module model, MeshAxis axis, Map<String, ? extends ParallelStyle> plan) {
        Plan matched = new Plan();
        matched.matchKeys(model, new TreeMap<>(plan));
        matched.styles.forEach((path, style) -> matched.problems.addAll(style.problems(
                path, java.util.Objects.requireNonNull(model.modules().get(path)), axis.size())));
        matched.placeParameters(model);
        if (!matched.problems.isEmpty()) {
            throw new PlanException(matched.problems);
        }
        return matched;
    }

    private void matchKeys(Module model, Map<String, ? extends ParallelStyle> plan) {
        Map<String, String> keyOf = new LinkedHashMap<>();
        plan.forEach((key, style) -> {
            boolean hit = false;
            for (String path : model.modules().keySet()) {
                if (matches(key, path)) {
                    hit = true;
                    String other = keyOf.putIfAbsent(path, key);
                    if (other == null) {
                        styles.put(path, style);
                    } else {
                        problems.add("module '" + path + "' is matched by two keys, '" + other + "' and '" + key + "'");
                    }
                }
            }
            if (!hit) {
                problems.add("key '" + key + "' matches no module; the nearest name is '" + nearest(key, model) + "'");
            }
        });
    }

    private static boolean matches(String key, String path) {
        String[] pattern = key.split("\\.", -1);
        String[] name = path.split("\\.", -1);
        boolean fits = pattern.length == name.length;
        for (int i = 0; fits && i < pattern.length; i++) {
            fits = pattern[i].equals("*") || pattern[i].equals(name[i]);
        }
        return fits;
    }

    private static String nearest(String key, Module model) {
        String best = "";
        int least = Integer.MAX_VALUE;
        for (String path : model.modules().keySet()) {
            int distance = distance(key, path);
            if (distance < least) {
                least = distance;
                best = path;
            }
        }
        return best;
    }

    /** Levenshtein distance. */
    private static int distance(String a, String b) {
        int[] row = new int[b.length() + 1];
        for (int j = 0; j <= b.length(); j++) {
            row[j] = j;
        }
        for (int i = 1; i <= a.length(); i++) {
            int diagonal = row[0];
            row[0] = i;
            for (int j = 1; j <= b.length(); j++) {
                int change = diagonal + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
                diagonal = row[j];
                row[j] = Math.min(change, Math.min(row[j], row[j - 1]) + 1);
            }
        }
        return row[b.length()];
    }

    private void placeParameters(Module model) {
        Map<Parameter, String> first = new LinkedHashMap<>();
        model.modules().forEach((path, module) -> {
            ParallelStyle style = styles.get(path);
            Map<String, Placement> wished = style == null ? Map.of() : style.placements(module);
            module.ownParameters().forEach((name, parameter) -> {
                String full = path.isEmpty() ? name : path + "." + name;
                Placement placement = wished.getOrDefault(name, Placement.invariant());
                Placement other = placements.putIfAbsent(parameter, placement);
                if (other != null && !other.equals(placement)) {
                    problems.add("parameter '" + first.get(parameter) + "' is shared with '" + full
                            + "', but the plan cuts it in two ways: " + other + " and " + placement);
                }
                first.putIfAbsent(parameter, full);
                if (parameter.layout() != null && full.equals(first.get(parameter))) {
                    problems.add("parameter '" + full + "' lies on a mesh already: " + parameter.layout()
                            + "; a model is split once");
                }
            });
        });
    }

    /** The style of each module that has one, by path. */
    Map<String, ParallelStyle> styles() {
        return styles;
    }

    /** Where every parameter of the model will lie along the axis. */
    Map<Parameter, Placement> placements() {
        return placements;
    }
}
