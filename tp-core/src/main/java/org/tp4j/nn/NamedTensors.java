package org.tp4j.nn;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;
import org.tp4j.tensor.Tensor;

/**
 * What goes into a module, or comes out of it, by name: a small immutable list. An optional tensor that is not given keeps
 * its name and is absent.
 *
 * <pre>{@code
 * NamedTensors.of("x", x).and("mask", mask).and("positions", positions)
 * }</pre>
 */
public final class NamedTensors {
    private final String[] names;
    private final @Nullable Tensor[] tensors;

    private NamedTensors(String[] names, @Nullable Tensor[] tensors) {
        this.names = names;
        this.tensors = tensors;
    }

    /** One tensor. */
    public static NamedTensors of(String name, Tensor tensor) {
        return new NamedTensors(new String[] {name}, new Tensor[] {tensor});
    }

    /**
     * These and one more.
     *
     * @param tensor the tensor, or null if this optional one is not given
     * @throws IllegalArgumentException if the name is taken
     */
    public NamedTensors and(String name, @Nullable Tensor tensor) {
        if (index(name) >= 0) {
            throw new IllegalArgumentException("there is a tensor '" + name + "' already among " + names());
        }
        int n = names.length;
        String[] moreNames = Arrays.copyOf(names, n + 1);
        @Nullable Tensor[] moreTensors = Arrays.copyOf(tensors, n + 1);
        moreNames[n] = name;
        moreTensors[n] = tensor;
        return new NamedTensors(moreNames, moreTensors);
    }

    /**
     * A tensor by name.
     *
     * @throws NoSuchElementException if it is absent or unknown, listing the names there are
     */
    public Tensor get(String name) {
        Tensor tensor = find(name);
        if (tensor == null) {
            throw new NoSuchElementException("tensor '" + name + "' was not given; there are " + given());
        }
        return tensor;
    }

    /**
     * A tensor by name, null if it is absent.
     *
     * @throws NoSuchElementException if the name is unknown, listing the names there are
     */
    public @Nullable Tensor find(String name) {
        int i = index(name);
        if (i < 0) {
            throw new NoSuchElementException("there is no tensor '" + name + "'; there are " + names());
        }
        return tensors[i];
    }

    /** The first tensor, to which hooks without a name apply. */
    public Tensor first() {
        return get(names[0]);
    }

    /** All names in order, those of absent tensors included. */
    public List<String> names() {
        return List.of(names);
    }

    /** The tensors that are given, in order. */
    public List<Tensor> tensors() {
        List<Tensor> all = new ArrayList<>();
        for (Tensor tensor : tensors) {
            if (tensor != null) {
                all.add(tensor);
            }
        }
        return all;
    }

    private List<String> given() {
        List<String> given = new ArrayList<>();
        for (int i = 0; i < names.length; i++) {
            if (tensors[i] != null) {
                given.add(names[i]);
            }
        }
        return given;
    }

    /** The same names with every given tensor replaced. */
    NamedTensors map(BiFunction<String, Tensor, Tensor> change) {
        @Nullable Tensor[] changed = tensors.clone();
        for (int i = 0; i < changed.length; i++) {
            Tensor tensor = changed[i];
            if (tensor != null) {
                changed[i] = change.apply(names[i], tensor);
            }
        }
        return new NamedTensors(names, changed);
    }

    private int index(String name) {
        for (int i = 0; i < names.length; i++) {
            if (names[i].equals(name)) {
                return i;
            }
        }
        return -1;
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder("{");
        for (int i = 0; i < names.length; i++) {
            Tensor tensor = tensors[i];
            text.append(i == 0 ? "" : ", ").append(names[i]).append(": ");
            text.append(tensor == null ? "absent" : tensor.dtype() + " " + tensor.shape());
        }
        return text.append('}').toString();
    }
}
