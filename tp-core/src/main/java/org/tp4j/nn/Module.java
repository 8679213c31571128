package org.tp4j.nn;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.ObjIntConsumer;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.tp4j.autograd.internal.Gathers;
import org.tp4j.nn.internal.NamePattern;
import org.tp4j.tensor.Backend;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.ExecutionContext;
import org.tp4j.tensor.StepNumber;
import org.tp4j.tensor.Tensor;

/**
 * A part of a model: named parameters, named children, and how it is called.
 *
 * <p>Most modules make one tensor of one and extend {@link Layer}. Any other brings its own typed method, which runs its
 * body by {@link #call(NamedTensors, Function)} or {@link #callForSeveral}; hooks, styles and the planner see the tensors by
 * the names given there.
 *
 * <pre>{@code
 * final class Attention extends Module {
 *     Tensor apply(Tensor x, @Nullable Tensor mask) {
 *         return call(NamedTensors.of("x", x).and("mask", mask), in -> forward(in.get("x"), in.find("mask")));
 *     }
 * }
 * }</pre>
 *
 * <p>Life of a model: build it, place it on a mesh with a plan (or several, or none), {@link #materialize} it, use it.
 */
public abstract class Module {
    private final Map<String, Module> children = new LinkedHashMap<>();
    private final Map<String, Parameter> parameters = new LinkedHashMap<>();
    private final Hooks inputHooks = new Hooks("input");
    private final Hooks outputHooks = new Hooks("output");
    private final List<String> splits = new ArrayList<>();
    private final Map<String, String> splitBy = new HashMap<>();
    private @Nullable Module parent;
    private String name = "";
    private @Nullable String path;
    private boolean training = true;
    private long seed;
    private long step;
    private long calls;

    /** A module without parts. */
    protected Module() {}

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
     * Shares a parameter of another module (tied weights): it stays one parameter, listed, stored, updated and counted
     * once.
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

    /**
     * Names of the tensors that a call takes, first the one that hooks without a name are for; empty if the module does not
     * say, in which case the names that plans and hooks use are checked when it is called.
     */
    public List<String> inputNames() {
        return List.of();
    }

    /** Names of the tensors that a call gives, as {@link #inputNames()}. */
    public List<String> outputNames() {
        return List.of();
    }

    /** Runs {@code body} as this module on one tensor, with its hooks. */
    final Tensor callOne(String inputName, Tensor x, String outputName, UnaryOperator<Tensor> body) {
        ExecutionContext context = ExecutionContext.current();
        String before = context.setModulePath(path());
        try {
            Tensor in = inputHooks.run(this, inputName, x);
            Tensor out = gatheringWithin(in, body, (result, mark) -> Gathers.leave(mark, result));
            return outputHooks.run(this, outputName, out);
        } finally {
            context.setModulePath(before);
        }
    }

    /** What the body gathers for itself is freed when it returns. */
    private static <T> T gatheringWithin(T in, UnaryOperator<T> body, ObjIntConsumer<T> leave) {
        int mark = Gathers.enter();
        boolean done = false;
        T out;
        try {
            out = body.apply(in);
            done = true;
        } finally {
            if (!done) {
                Gathers.abandon(mark);
            }
        }
        leave.accept(out, mark);
        return out;
    }

    /**
     * Runs {@code body} as this module, with its hooks; the output's name is {@value Layer#OUTPUT}.
     *
     * @param inputs what the call was given; names must be the same in every call
     * @param body from the inputs behind their hooks to the output
     */
    protected final Tensor call(NamedTensors inputs, Function<NamedTensors, Tensor> body) {
        return callForSeveral(inputs, in -> NamedTensors.of(Layer.OUTPUT, body.apply(in)))
                .first();
    }

    /**
     * As {@link #call(NamedTensors, Function)} for a body with several outputs, the first of which is the one that hooks
     * without a name are for.
     *
     * @return the outputs behind their hooks
     */
    protected final NamedTensors callForSeveral(NamedTensors inputs, UnaryOperator<NamedTensors> body) {
        ExecutionContext context = ExecutionContext.current();
        String before = context.setModulePath(path());
        try {
            NamedTensors in = inputHooks.run(this, inputs);
            NamedTensors out = gatheringWithin(in, body, (result, mark) -> Gathers.leave(mark, result.tensors()));
            return outputHooks.run(this, out);
        } finally {
            context.setModulePath(before);
        }
    }

    /** A hook that has been added. */
    public interface Hook {
        /** Removes it; idempotent. */
        void remove();
    }

    /** What is done to a tensor on its way into a module or out of it. */
    @FunctionalInterface
    public interface TensorHook {
        /**
         * Gives the tensor that takes its place; a hook that only looks gives back what it is given.
         *
         * @param name the tensor's name in the call
         */
        Tensor apply(String name, Tensor tensor);
    }

    /** Adds what is done to the first input before the module computes; later hooks run later. */
    public final Hook addInputHook(UnaryOperator<Tensor> hook) {
        return inputHooks.addFirst((name, tensor) -> hook.apply(tensor));
    }

    /**
     * Adds what is done to one input. A call without that input is refused, one in which it is optional and absent is not.
     *
     * @throws IllegalArgumentException if the module declares its inputs and has none of this name
     */
    public final Hook addInputHook(String name, UnaryOperator<Tensor> hook) {
        requireName("input", name, inputNames());
        return inputHooks.addNamed(name, (same, tensor) -> hook.apply(tensor));
    }

    /** Adds what is done to each input. */
    public final Hook addEveryInputHook(TensorHook hook) {
        return inputHooks.addEvery(hook);
    }

    /** Adds what is done to the first output after the module has computed; later hooks run later. */
    public final Hook addOutputHook(UnaryOperator<Tensor> hook) {
        return outputHooks.addFirst((name, tensor) -> hook.apply(tensor));
    }

    /** As {@link #addInputHook(String, UnaryOperator)} for one output. */
    public final Hook addOutputHook(String name, UnaryOperator<Tensor> hook) {
        requireName("output", name, outputNames());
        return outputHooks.addNamed(name, (same, tensor) -> hook.apply(tensor));
    }

    /** Adds what is done to each output. */
    public final Hook addEveryOutputHook(TensorHook hook) {
        return outputHooks.addEvery(hook);
    }

    private void requireName(String side, String name, List<String> declared) {
        if (!declared.isEmpty() && !declared.contains(name)) {
            throw new IllegalArgumentException(
                    "module '" + path() + "' has no " + side + " '" + name + "'; its " + side + "s are " + declared);
        }
    }

    /** In what ways the module is split over ranks, for messages and {@link #toString}; empty if in none. */
    public final List<String> splits() {
        return Collections.unmodifiableList(splits);
    }

    /**
     * Notes one more way in which the module is split; done by what installs the hooks.
     *
     * @param how the style, for {@link #splits()}
     * @param axis name of the mesh axis it is split along
     * @param entry the plan entry, in words
     */
    public final void addSplit(String how, String axis, String entry) {
        splits.add(how + " along " + axis);
        splitBy.put(axis, entry);
    }

    /** The plan entry that has split the module along a mesh axis; null if none has. */
    public final @Nullable String splitBy(String axis) {
        return splitBy.get(axis);
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

    /** The parameters whose dotted paths match a pattern in which {@code *} stands for one segment, such as {@code layers.*.norm.weight}. */
    public final Map<String, Parameter> parameters(String pattern) {
        NamePattern wanted = NamePattern.of(pattern);
        Map<String, Parameter> chosen = parameters();
        chosen.keySet().removeIf(n -> !wanted.matches(n));
        return chosen;
    }

    /** Number of elements of all parameters of the whole model, whatever this rank holds; tied ones count once. */
    public final long parameterCount() {
        return parameters().values().stream()
                .mapToLong(parameter -> parameter.shape().elements())
                .sum();
    }

    /**
     * Gives every parameter memory and initial values: each rank allocates and fills only its shards, with the values that
     * one rank alone would draw.
     *
     * @param backend where they are allocated
     * @param dtype type of all parameters
     * @param seed seed of initial values and dropout
     */
    public final void materialize(Backend backend, DType dtype, long seed) {
        parameters().forEach((n, parameter) -> {
            parameter.rename(n);
            parameter.materialize(backend, dtype, seed);
        });
        modules().values().forEach(module -> module.seed = seed);
    }

    /** Switches the module and all below it between training and evaluation, which dropout depends on. */
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
     * Begins a step for dropout: its masks depend on the seed, the module's path, the step, and how often the module has
     * been called in the step. Without this, calls are counted on from the last.
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

    /** The tensors of all parameters by name, for saving. */
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
     * @throws IllegalArgumentException listing every missing or unknown name and every shape or type that differs
     */
    public final void loadState(Map<String, ? extends Tensor> values) {
        State.load(parameters(), values);
    }

    /** What {@link #toString} shows between the parentheses: sizes and options. */
    protected String describe() {
        return "";
    }

    /** The module and all below it as a tree, one line per module, with the styles that split them. */
    @Override
    public final String toString() {
        StringBuilder text = new StringBuilder();
        write(text, "");
        return text.toString();
    }

    private void write(StringBuilder text, String indent) {
        text.append(indent).append(name.isEmpty() ? "" : name + ": ");
        text.append(getClass().getSimpleName()).append('(').append(describe()).append(')');
        text.append(splits.isEmpty() ? "" : " split by " + String.join("; ", splits))
                .append('\n');
        children.values().forEach(child -> child.write(text, indent + "  "));
    }
}
