package org.tp4j.parallel;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.tp4j.layout.Placement;
import org.tp4j.nn.Module;

/**
 * Two styles for one module; see {@link ParallelStyle#and}.
 *
 * @param first whose hooks run first
 * @param second whose hooks run second
 */
record CombinedStyle(ParallelStyle first, ParallelStyle second) implements ParallelStyle {
    @Override
    public List<String> validate(String path, Module module, int ranks) {
        List<String> problems = new ArrayList<>(first.validate(path, module, ranks));
        problems.addAll(second.validate(path, module, ranks));
        if (problems.isEmpty()) {
            Map<String, Placement> other = second.placements(module);
            first.placements(module).forEach((name, placement) -> {
                if (other.containsKey(name) && !placement.equals(other.get(name))) {
                    problems.add("'" + path + "': " + first + " makes '" + name + "' " + placement + ", but " + second
                            + " makes it " + other.get(name) + "; HINT: let one of them place it");
                }
            });
        }
        return problems;
    }

    @Override
    public Map<String, Placement> placements(Module module) {
        Map<String, Placement> both = new LinkedHashMap<>(first.placements(module));
        both.putAll(second.placements(module));
        return both;
    }

    @Override
    public void install(Module module, MeshAxis axis) {
        first.install(module, axis);
        second.install(module, axis);
    }

    @Override
    public String toString() {
        return first + " and " + second;
    }
}
