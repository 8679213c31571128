package org.tp4j.nn;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.tp4j.nn.internal.NamePattern;
import org.tp4j.tensor.Tensor;

/** The hooks on the inputs of a module, or on its outputs, in the order in which they were added. */
final class Hooks {
    private final String side;
    private final List<Entry> entries = new CopyOnWriteArrayList<>();

    /** @param side {@code input} or {@code output}, for messages */
    Hooks(String side) {
        this.side = side;
    }

    /** Which tensors a hook applies to. */
    private enum Reach {
        FIRST,
        NAMED,
        EVERY
    }

    private record Entry(Reach reach, String name, Module.TensorHook hook) {
        boolean isFor(String tensor, boolean first) {
            return switch (reach) {
                case FIRST -> first;
                case NAMED -> name.equals(tensor);
                case EVERY -> true;
            };
        }
    }

    Module.Hook addFirst(Module.TensorHook hook) {
        return add(new Entry(Reach.FIRST, "", hook));
    }

    Module.Hook addNamed(String name, Module.TensorHook hook) {
        return add(new Entry(Reach.NAMED, name, hook));
    }

    Module.Hook addEvery(Module.TensorHook hook) {
        return add(new Entry(Reach.EVERY, "", hook));
    }

    private Module.Hook add(Entry entry) {
        entries.add(entry);
        return () -> entries.remove(entry);
    }

    /** Runs the hooks on the only tensor of a call. */
    Tensor run(Module module, String name, Tensor tensor) {
        Tensor value = tensor;
        for (Entry entry : entries) {
            if (entry.isFor(name, true)) {
                value = entry.hook.apply(name, value);
            } else {
                refuseUnknown(module, entry, List.of(name));
            }
        }
        return value;
    }

    /** Runs the hooks on the tensors of a call; a hook on an absent tensor does nothing. */
    NamedTensors run(Module module, NamedTensors tensors) {
        NamedTensors values = tensors;
        String first = tensors.names().get(0);
        for (Entry entry : entries) {
            if (entry.reach == Reach.NAMED && !tensors.names().contains(entry.name)) {
                refuseUnknown(module, entry, tensors.names());
            }
            values = values.map(
                    (name, tensor) -> entry.isFor(name, name.equals(first)) ? entry.hook.apply(name, tensor) : tensor);
        }
        return values;
    }

    private void refuseUnknown(Module module, Entry entry, List<String> names) {
        throw new IllegalArgumentException("a hook or style of module '" + module.path() + "' is for its " + side + " '"
                + entry.name + "', but the " + side + "s of this call are " + names + "; HINT: "
                + "the nearest name is '" + NamePattern.of(entry.name).nearest(names) + "'");
    }
}
