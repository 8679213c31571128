package org.tp4j.nn;

import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.tp4j.layout.LayoutException;

/**
 * What a refusal inside a module means for the plan of its model: mostly one of two layers that belong together is split and
 * the other is not. Redistributing an operand, the hint of the operation, would change a line inside a layer.
 */
final class PlanHint {
    private static final String HINT = "; HINT: ";

    private PlanHint() {}

    /** A refusal that has been explained; modules further out leave it alone. */
    private static final class Explained extends LayoutException {
        private static final long serialVersionUID = 1L;

        Explained(LayoutException refusal, String message) {
            super(refusal.operation(), message);
            setStackTrace(refusal.getStackTrace());
        }
    }

    /**
     * The refusal with a hint about the plan, or as it is if the plan does not explain it.
     *
     * @param module the module that threw it or passes it on
     */
    static LayoutException explain(LayoutException refusal, Module module) {
        if (refusal instanceof Explained) {
            return refusal;
        }
        String hint = module.children().isEmpty() ? ofLayer(module) : ofParts(module);
        String message = String.valueOf(refusal.getMessage());
        int at = message.lastIndexOf(HINT);
        return hint == null
                ? refusal
                : new Explained(refusal, (at < 0 ? message : message.substring(0, at)) + HINT + hint);
    }

    /** A layer in no plan beside layers in one. */
    private static @Nullable String ofLayer(Module layer) {
        Module parent = layer.parent();
        if (parent == null || !layer.splits().isEmpty()) {
            return null;
        }
        List<Module> split = split(parent);
        return split.isEmpty() ? null : hint(split, layer instanceof Linear ? List.of(layer) : List.of());
    }

    /** A module that combines what layers in a plan and layers in none return. */
    private static @Nullable String ofParts(Module module) {
        List<Module> split = split(module);
        List<Module> whole = module.children().values().stream()
                .filter(child -> child instanceof Linear && child.splits().isEmpty())
                .toList();
        return split.isEmpty() || whole.isEmpty() ? null : hint(split, whole);
    }

    private static List<Module> split(Module parent) {
        return parent.children().values().stream()
                .filter(child -> !child.splits().isEmpty())
                .toList();
    }

    private static String hint(List<Module> split, List<Module> missing) {
        List<Module> byColumn = split.stream()
                .filter(layer -> layer.splits().get(0).startsWith("ColwiseParallel"))
                .toList();
        String styles =
                split.stream().map(layer -> layer.splits().get(0)).distinct().collect(Collectors.joining(", "));
        String add = missing.isEmpty()
                ? ""
                : "add " + names(missing) + (byColumn.isEmpty() ? "" : suggestion(missing, byColumn.get(0))) + ", or ";
        String gather = byColumn.isEmpty()
                ? "redistribute the output of " + names(split) + " in its style"
                : "gather the output of " + names(byColumn) + ": withOutput(Placement.invariant())";
        return "of these layers only " + names(split) + " " + (split.size() == 1 ? "is" : "are") + " in the plan ("
                + styles + "): " + add + gather;
    }

    /** Layers that take what the other returns are split by row, those that take what it takes by column. */
    private static String suggestion(List<Module> missing, Module split) {
        boolean follows = missing.stream()
                .allMatch(layer ->
                        layer instanceof Linear next && split instanceof Linear before && next.in() == before.out());
        return follows ? " as RowwiseParallel" : " as ColwiseParallel";
    }

    private static String names(List<Module> modules) {
        return modules.stream().map(module -> "'" + module.path() + "'").collect(Collectors.joining(" and "));
    }
}
