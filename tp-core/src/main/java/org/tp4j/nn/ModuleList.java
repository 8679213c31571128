package org.tp4j.nn;

import java.util.Iterator;
import java.util.List;

/**
 * Modules named "0", "1", ... that their parent calls, such as the layers of a transformer.
 *
 * <pre>{@code
 * private final ModuleList<Block> layers = child("layers", new ModuleList<>(blocks)); // layers.0, layers.1, ...
 * ...
 * for (Block layer : layers) {
 *     x = layer.apply(x);
 * }
 * }</pre>
 *
 * <p>{@link Sequential} is the list that calls its modules itself.
 *
 * @param <M> type of the modules
 */
public final class ModuleList<M extends Module> extends Module implements Iterable<M> {
    private final List<M> modules;

    /** @param modules in order */
    public ModuleList(List<M> modules) {
        this.modules = List.copyOf(modules);
        for (int i = 0; i < this.modules.size(); i++) {
            child(Integer.toString(i), this.modules.get(i));
        }
    }

    /** Number of modules. */
    public int size() {
        return modules.size();
    }

    /** Module by index. */
    public M get(int index) {
        return modules.get(index);
    }

    @Override
    public Iterator<M> iterator() {
        return modules.iterator();
    }
}
