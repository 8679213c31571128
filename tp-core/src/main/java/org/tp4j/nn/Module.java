package org.tp4j.nn;

import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.tp4j.autograd.internal.Gathers;
import org.tp4j.tensor.Backend;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.ExecutionContext;
import org.tp4j.tensor.StepNumber;
import org.tp4j.tensor.Tensor;

/**
 * A part of a model: named parameters, named children, and what it computes.
 *
 * <pre>{@code
 * final class Block extends Module {
 *     private final LayerNorm norm = child("norm", new LayerNorm(256, 1e-5));
 *     private final Mlp mlp = child("mlp", new Mlp(256, 1024, Activation.GELU_TANH, true));
 *
 *     protected Tensor forward(Tensor x) {
 *         return x.add(mlp.apply(norm.apply(x)));
 *     }
 * }
 * }</pre>
 *
 * <p>Life of a model: build it, place it on a mesh with a plan (or not), {@link #materialize} it, use it.
 */
public abstract class Module {
    private final Map<String, Module> children = new LinkedHashMap<>();
    private final Map<String, Parameter> parameters = new LinkedHashMap<>();
    private final List<UnaryOperator<Tensor>> inputHooks = new CopyOnWriteArrayList<>();
    private final List<UnaryOperator<Tensor>> outputHooks = new CopyOnWriteArrayList<>();
    private @Nullable Module parent;
    private String name = "";
    private @Nullable String path;
    private @Nullable String split;
    private boolean training = true;
    private long seed;
    private long step;
    private long calls;

    /** Adds a child; returns it. */
    protected final <M extends Module> M child(String childName, M module) {
        checkName(childName);
        Module added = module;
        if (added.parent != null) {
            throw new IllegalArgumentException("module '" + childName + "' has a parent already, where it is called '"
                    + added.name + "'; HINT: share parameters, not modules");
        }
        added.parent = this;
        added.name = childName;
        added.modules().values().forEach(below -> below.path = null);
        children.put(childName, module);
        return module;
    }

    /** Declares a parameter; returns it. */
    protected final Parameter parameter(Parameter declared) {
        checkName(declared.name());
        parameters.put(declared.name(), declared);
        return declared;
    }

    /**
     * Makes a parameter of another module this module's too (tied weights): it stays one parameter, listed, stored, updated
     * and counted once.
     */
    protected final Parameter tie(String parameterName, Parameter shared) {
        checkName(parameterName);
        parameters.put(parameterName, shared);
        return shared;
    }

    private void checkName(String candidate) {
        if (candidate.isEmpty() || candidate.contains(".") || candidate.contains("*")) {
            throw new IllegalArgumentException(
                    "'" + candidate + "' is no name: it must not be empty or hold '.' or '*'");
        }
        if (children.containsKey(candidate) || parameters.containsKey(candidate)) {
            throw new IllegalArgumentException(
                    "there is a '" + candidate + "' in " + getClass().getSimpleName() + " already");
        }
    }

    /** What the module computes. */
    protected abstract Tensor forward(Tensor x);

    /** Runs the module: its input hooks, {@link #forward}, its output hooks. */
    public final Tensor apply(Tensor x) {
        return call(x, this::forward);
    }

    /** Runs {@code body} as this module, with its hooks. */
    protected final Tensor call(Tensor x, UnaryOperator<Tensor> body) {
        ExecutionContext context = ExecutionContext.current();
        String before = context.setModulePath(path());
        try {
            Tensor value = x;
            for (UnaryOperator<Tensor> hook : inputHooks) {
                value = hook.apply(value);
            }
            int mark = Gathers.enter();
            boolean done = false;
            try {
                value = body.apply(value);
                done = true;
            } finally {
                if (!done) {
                    Gathers.abandon(mark);
                }
            }
            Gathers.leave(mark, value);
            for (UnaryOperator<Tensor> hook : outputHooks) {
                value = hook.apply(value);
            }
            return value;
        } finally {
            context.setModulePath(before);
        }
    }

    /** A hook that has been added. */
    public interface Hook {
        /** Takes it away again; does nothing if that has been done. */
        void remove();
    }

    /**
     * Adds what is done to every input before {@link #forward}; later hooks run later. A hook that only looks gives back
     * what it is given.
     */
    public final Hook addInputHook(UnaryOperator<Tensor> hook) {
        inputHooks.add(hook);
        return () -> inputHooks.remove(hook);
    }

    /** Adds what is done to every output after {@link #forward}; later hooks run later. */
    public final Hook addOutputHook(UnaryOperator<Tensor> hook) {
        outputHooks.add(hook);
        return () -> outputHooks.remove(hook);
    }

    /** In what way the module is split over ranks, for messages and {@link #toString}; null if it is not. */
    public final @Nullable String split() {
        return split;
    }

    /**
     * Notes in what way the module is split; done once, by what installs the hooks.
     *
     * @throws IllegalStateException if it is split already
     */
    public final void markSplit(String how) {
        if (split != null) {
            throw new IllegalStateException("module '" + path() + "' is split already: " + split
                    + "; HINT: split a new model, or leave the module out of the plan");
        }
        split = how;
    }

    /** Dotted path from the outermost module, empty for that one. */
    public final String path() {
        String known = path;
        if (known == null) {
            Module up = parent;
            known = up == null ? "" : up.path().isEmpty() ? name : up.path() + "." + name;
            path = known;
        }
        return known;
    }

    /** The children by name, in the order of their declaration. */
    public final Map<String, Module> children() {
        return Collections.unmodifiableMap(children);
    }

    /** The module's own parameters by name, without its children's. */
    public final Map<String, Parameter> ownParameters() {
        return Collections.unmodifiableMap(parameters);
    }

    /** This module under "" and all below it by dotted path. */
    public final Map<String, Module> modules() {
        Map<String, Module> all = new LinkedHashMap<>();
        collectModules("", all);
        return all;
    }

    private void collectModules(String prefix, Map<String, Module> all) {
        all.put(prefix, this);
        children.forEach((n, child) -> child.collectModules(join(prefix, n), all));
    }

    private static String join(String prefix, String last) {
        return prefix.isEmpty() ? last : prefix + "." + last;
    }

    /** All parameters by dotted path; a tied one once, under its first name. */
    public final Map<String, Parameter> parameters() {
        Map<String, Parameter> all = new LinkedHashMap<>();
        Set<Parameter> seen = Collections.newSetFromMap(new IdentityHashMap<>());
        modules()
                .forEach((prefix, module) -> module.parameters.forEach((n, parameter) -> {
                    if (seen.add(parameter)) {
                        all.put(join(prefix, n), parameter);
                    }
                }));
        return all;
    }

    /** The parameters whose dotted paths follow a {@link NamePattern}, such as {@code layers.*.norm.weight}. */
    public final Map<String, Parameter> parameters(String pattern) {
        NamePattern wanted = NamePattern.of(pattern);
        Map<String, Parameter> chosen = parameters();
        chosen.keySet().removeIf(n -> !wanted.matches(n));
        return chosen;
    }

    /** Elements of all parameters, of the whole model whatever part of it this rank holds; tied ones count once. */
    public final long parameterCount() {
        return parameters().values().stream()
                .mapToLong(parameter -> parameter.shape().elements())
                .sum();
    }

    /**
     * Gives every parameter memory and initial values: each rank allocates and fills only its shards, with the values that
     * one rank alone would draw.
     *
     * @param backend where
     * @param dtype type of all parameters
     * @param seed of initial values and dropout
     */
    public final void materialize(Backend backend, DType dtype, long seed) {
        parameters().forEach((n, parameter) -> {
            parameter.rename(n);
            parameter.materialize(backend, dtype, seed);
        });
        modules().values().forEach(module -> module.seed = seed);
    }

    /** Sets dropout and the like to training or not. */
    public final void train(boolean on) {
        modules().values().forEach(module -> module.training = on);
    }

    /** As {@code train(true)}. */
    public final void train() {
        train(true);
    }

    /** As {@code train(false)}. */
    public final void eval() {
        train(false);
    }

    /** Whether the module is in training. */
    public final boolean isTraining() {
        return training;
    }

    /**
     * Tells dropout which step begins: the masks of a step depend on the seed, the module's path, the step, and how often
     * the module has been called in it. Without it every call counts on from the last.
     */
    public final void beginStep(long number) {
        for (Module module : modules().values()) {
            module.step = number;
            module.calls = 0;
        }
    }

    /** The seed of the model's random numbers. */
    protected final long seed() {
        return seed;
    }

    /** The stream of random numbers of the next call of this module. */
    protected final StepNumber nextStream() {
        return StepNumber.compute(() -> Streams.of(Streams.of(Streams.of(path()), step), calls++));
    }

    /** Forgets all gradients. */
    public final void clearGradients() {
        for (Parameter parameter : parameters().values()) {
            if (parameter.isMaterialized()) {
                parameter.tensor().clearGrad();
            }
        }
    }

    /** All parameters' tensors by name, for saving. */
    public final Map<String, Tensor> state() {
        Map<String, Tensor> state = new LinkedHashMap<>();
        parameters().forEach((n, parameter) -> state.put(n, parameter.tensor()));
        return state;
    }

    /**
     * Overwrites all parameters, or none: names, shapes and types are checked first. Floats of other types are converted.
     *
     * @param values tensors by name: whole ones, the same on every rank, or tensors on a mesh, such as another model's
     *     {@link #state()}
     * @throws IllegalArgumentException listing every name that is missing or too many and every shape or type that differs
     */
    public final void loadState(Map<String, ? extends Tensor> values) {
        State.load(parameters(), values);
    }

    /** What {@link #toString} shows between the parentheses: sizes and options. */
    protected String describe() {
        return "";
    }

    /** The module and all below it as a tree, a line each, with how they are split. */
    @Override
    public final String toString() {
        StringBuilder text = new StringBuilder();
        write(text, "");
        return text.toString();
    }

    private void write(StringBuilder text, String indent) {
        text.append(indent).append(name.isEmpty() ? "" : name + ": ");
        text.append(getClass().getSimpleName()).append('(').append(describe()).append(')');
        text.append(split == null ? "" : " split by " + split).append('\n');
        children.values().forEach(child -> child.write(text, indent + "  "));
    }
}
