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
import org.tp4j.layout.LayoutException;
import org.tp4j.nn.internal.NamePattern;
import org.tp4j.tensor.Backend;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.ExecutionContext;
import org.tp4j.tensor.StepNumber;
import org.tp4j.tensor.Tensor;

/**
 * A part of a model: named parameters, named children, and how it is called.
 *
 * <p>Most modules map one tensor to one and extend {@link Layer}. Any other declares a typed method of its own, which runs
 * its body through {@link #call(NamedTensors, Function)} or {@link #callForSeveral}; hooks, styles and the planner see the
 * tensors under the names given there.
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

    /** A module without children or parameters yet. */
    protected Module() {}

    /** Adds a child; returns it. */
    protected final <M extends Module> M child(String childName, M module) {
        checkName(childName);
        Module added = module;
        if (added.parent != null) {
            throw new IllegalArgumentException("module '" + childName + "' already has a parent, where it is called '"
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
                    "'" + candidate + "' is not a valid name: it must not be empty or contain '.' or '*'");
        }
        if (children.containsKey(candidate) || parameters.containsKey(candidate)) {
            throw new IllegalArgumentException(
                    "there is a '" + candidate + "' in " + getClass().getSimpleName() + " already");
        }
    }

    /**
     * Names of the inputs of a call; hooks without a name apply to the first. Empty if the module does not declare them, in
     * which case the names that plans and hooks use are checked when it is called.
     */
    public List<String> inputNames() {
        return List.of();
    }

    /** Names of the outputs of a call, as {@link #inputNames()}. */
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
        } catch (LayoutException e) {
            throw PlanHint.explain(e, this);
        } finally {
            context.setModulePath(before);
        }
    }

    /** Runs the body, then frees what was gathered while it ran. */
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
     * @param inputs the inputs of the call; every call has the same names
     * @param body maps the inputs, after their hooks, to the output
     */
    protected final Tensor call(NamedTensors inputs, Function<NamedTensors, Tensor> body) {
        return callForSeveral(inputs, in -> NamedTensors.of(Layer.OUTPUT, body.apply(in)))
                .first();
    }

    /**
     * As {@link #call(NamedTensors, Function)} for a body with several outputs; hooks without a name apply to the first.
     *
     * @return the outputs after their hooks
     */
    protected final NamedTensors callForSeveral(NamedTensors inputs, UnaryOperator<NamedTensors> body) {
        ExecutionContext context = ExecutionContext.current();
        String before = context.setModulePath(path());
        try {
            NamedTensors in = inputHooks.run(this, inputs);
            NamedTensors out = gatheringWithin(in, body, (result, mark) -> Gathers.leave(mark, result.tensors()));
            return outputHooks.run(this, out);
        } catch (LayoutException e) {
            throw PlanHint.explain(e, this);
        } finally {
            context.setModulePath(before);
        }
    }

    /** A hook that has been added. */
    public interface Hook {
        /** Removes it; idempotent. */
        void remove();
    }

    /** A function applied to a tensor that enters or leaves a module. */
    @FunctionalInterface
    public interface TensorHook {
        /**
         * Returns the tensor to use instead, or the same one.
         *
         * @param name the tensor's name in the call
         */
        Tensor apply(String name, Tensor tensor);
    }

    /** Adds a hook on the first input, run before the module computes. Hooks run in the order they were added. */
    public final Hook addInputHook(UnaryOperator<Tensor> hook) {
        return inputHooks.addFirst((name, tensor) -> hook.apply(tensor));
    }

    /**
     * Adds a hook on one input. A call that has no input of this name is refused; one that leaves out an optional input is not.
     *
     * @throws IllegalArgumentException if the module declares its inputs and has none of this name
     */
    public final Hook addInputHook(String name, UnaryOperator<Tensor> hook) {
        requireName("input", name, inputNames());
        return inputHooks.addNamed(name, (same, tensor) -> hook.apply(tensor));
    }

    /** Adds a hook on every input. */
    public final Hook addEveryInputHook(TensorHook hook) {
        return inputHooks.addEvery(hook);
    }

    /** Adds a hook on the first output, run after the module has computed. Hooks run in the order they were added. */
    public final Hook addOutputHook(UnaryOperator<Tensor> hook) {
        return outputHooks.addFirst((name, tensor) -> hook.apply(tensor));
    }

    /** As {@link #addInputHook(String, UnaryOperator)} for one output. */
    public final Hook addOutputHook(String name, UnaryOperator<Tensor> hook) {
        requireName("output", name, outputNames());
        return outputHooks.addNamed(name, (same, tensor) -> hook.apply(tensor));
    }

    /** Adds a hook on every output. */
    public final Hook addEveryOutputHook(TensorHook hook) {
        return outputHooks.addEvery(hook);
    }

    private void requireName(String side, String name, List<String> declared) {
        if (!declared.isEmpty() && !declared.contains(name)) {
            throw new IllegalArgumentException(
                    "module '" + path() + "' has no " + side + " '" + name + "'; its " + side + "s are " + declared);
        }
    }

    /** How the module is split over ranks, for messages and {@link #toString}; empty if it is not. */
    public final List<String> splits() {
        return Collections.unmodifiableList(splits);
    }

    /**
     * Records a way in which the module is split; called by whoever installs the hooks.
     *
     * @param how the style, for {@link #splits()}
     * @param axis name of the mesh axis it is split along
     * @param entry text of the plan entry
     */
    public final void addSplit(String how, String axis, String entry) {
        splits.add(how + " along " + axis);
        splitBy.put(axis, entry);
    }

    /** The plan entry that has split the module along a mesh axis; null if none has. */
    public final @Nullable String splitBy(String axis) {
        return splitBy.get(axis);
    }

    /** The module it is a part of; null for the outermost one. */
    final @Nullable Module parent() {
        return parent;
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

    /** All modules of this tree by dotted path; this one is "". */
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

    /**
     * The further dotted paths of tied parameters, each with the one under which {@link #parameters()} lists it; files may hold
     * a tied parameter under any of them.
     */
    public final Map<String, String> aliases() {
        Map<Parameter, String> first = new IdentityHashMap<>();
        Map<String, String> aliases = new LinkedHashMap<>();
        modules()
                .forEach((prefix, module) -> module.parameters.forEach((n, parameter) -> {
                    String name = join(prefix, n);
                    String known = first.putIfAbsent(parameter, name);
                    if (known != null) {
                        aliases.put(name, known);
                    }
                }));
        return aliases;
    }

    /** The parameters whose dotted paths match a pattern in which {@code *} stands for one segment, such as {@code layers.*.norm.weight}. */
    public final Map<String, Parameter> parameters(String pattern) {
        NamePattern wanted = NamePattern.of(pattern);
        Map<String, Parameter> chosen = parameters();
        chosen.keySet().removeIf(n -> !wanted.matches(n));
        return chosen;
    }

    /** Number of elements of all parameters of the whole model, not only of this rank; tied ones count once. */
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
        Agreements.materialized(parameters(), dtype, seed);
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
     * @param values tensors by name (a tied parameter under one of its names): whole ones, the same on every rank, or tensors on a mesh, such as another model's
     *     {@link #state()}
     * @throws IllegalArgumentException listing every missing or unknown name and every shape or type that differs
     */
    public final void loadState(Map<String, ? extends Tensor> values) {
        State.load(parameters(), aliases(), values);
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
