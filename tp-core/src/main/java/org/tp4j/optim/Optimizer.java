package org.tp4j.optim;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.tp4j.comm.CommunicationException;
import org.tp4j.layout.LayoutException;
import org.tp4j.nn.Gradients;
import org.tp4j.nn.Parameter;
import org.tp4j.tensor.Backend;
import org.tp4j.tensor.ParameterUpdate;
import org.tp4j.tensor.StepNumber;
import org.tp4j.tensor.StepRecording;
import org.tp4j.tensor.Tensor;

/**
 * Updates parameters by their gradients.
 *
 * <pre>{@code
 * Parallelize.apply(model, mesh, plan);
 * model.materialize(world.backend(), DType.FLOAT32, seed);
 * Optimizer optimizer = new AdamW(model, 3e-4);
 * for (Batch batch : batches) {
 *     try (Scope step = Scope.open()) {
 *         optimizer.clearGradients();
 *         model.apply(batch.x()).crossEntropy(batch.labels()).backward();
 *         GradientClipping.byNorm(model, 1.0);
 *         optimizer.step();
 *     }
 * }
 * }</pre>
 *
 * <p>It is made after the model has been placed and materialized; if the model is placed or materialized again later, the
 * optimizer refuses to step. State (FLOAT32, FLOAT64 if the parameter is) has the layout of its parameter, so each rank keeps
 * only that of its shards; it is allocated when the optimizer is made and lives as long as the optimizer. A 16-bit parameter
 * has a FLOAT32 copy on which steps are taken; if the parameter is written in between, the copy follows.
 *
 * <p>{@link #step} always runs the deferred sums of gradients first. A parameter that is frozen or has no gradient is skipped
 * and its own step count stays; a tied one is updated once. The first step compares over the ranks which parameters have a
 * gradient (every step with {@code -Dtp4j.checking=true}). Apart from that a step communicates nothing and, from the second
 * on, allocates nothing.
 *
 * <p>Custom optimizers extend this class and implement {@link #update}.
 */
public abstract class Optimizer {
    private static final boolean CHECK_ALWAYS = Boolean.getBoolean("tp4j.checking");

    private final List<Slot> slots = new ArrayList<>();
    private final List<Parameter> parameters = new ArrayList<>();
    private final LearningRateSchedule schedule;
    private final double weightDecay;
    private final List<String> stateNames;
    private long stepCount;
    private boolean compared;
    private final OptimizerAgreement agreement = new OptimizerAgreement();

    /**
     * An optimizer of groups of parameters.
     *
     * @param stateNames names of the arrays kept for each parameter, such as {@code m}
     * @throws IllegalArgumentException if there is no parameter, or one is in two groups
     * @throws IllegalStateException if a parameter has no values yet
     * @throws LayoutException if a parameter is Replicate on a mesh axis
     */
    protected Optimizer(
            List<ParameterGroup> groups, LearningRateSchedule schedule, double weightDecay, List<String> stateNames) {
        this.schedule = schedule;
        this.weightDecay = weightDecay;
        this.stateNames = List.copyOf(stateNames);
        Map<Parameter, Integer> seen = new HashMap<>(); // parameters compare by identity
        for (int g = 0; g < groups.size(); g++) {
            ParameterGroup group = groups.get(g);
            int number = g;
            group.parameters().forEach((name, parameter) -> {
                Integer other = seen.putIfAbsent(parameter, number);
                if (other == null) {
                    add(name, parameter, group);
                } else if (other != number) {
                    throw new IllegalArgumentException(
                            "parameter '" + name + "' is in two groups; HINT: each parameter belongs to one");
                }
            });
        }
        if (slots.isEmpty()) {
            throw new IllegalArgumentException(kind() + " has no parameters to train");
        }
        for (Slot slot : slots) {
            if (slot.parameter().isTrainable()) {
                slot.ensureState(this.stateNames.size());
            }
        }
    }

    private void add(String name, Parameter parameter, ParameterGroup group) {
        for (Slot slot : slots) {
            if (slot.name().equals(name)) {
                throw new IllegalArgumentException("two parameters are named '" + name + "'");
            }
        }
        slots.add(new Slot(name, parameter, group, kind()));
        parameters.add(parameter);
    }

    /**
     * The options that its state depends on besides the learning rate, by name: saved with the state, which another optimizer
     * with other options refuses.
     */
    protected Map<String, Double> settings() {
        return Map.of();
    }

    /** What {@link #state} says of the optimizer, for the given number of finished steps. */
    private Map<String, Double> description(long finishedSteps) {
        Map<String, Double> all = new LinkedHashMap<>();
        all.put("learning_rate", schedule.rate(finishedSteps));
        all.put("weight_decay", weightDecay);
        all.putAll(settings());
        List<ParameterGroup> groups = slots.stream().map(Slot::group).distinct().toList();
        for (int g = 0; groups.size() > 1 && g < groups.size(); g++) {
            Double decay = groups.get(g).weightDecay();
            all.put("group" + g + ".rate_factor", groups.get(g).rateFactor());
            all.put("group" + g + ".weight_decay", decay == null ? weightDecay : decay);
        }
        return all;
    }

    private String kind() {
        return getClass().getSimpleName();
    }

    /** Updates one parameter and its state in place: the optimizer's formula. */
    protected abstract void update(ParameterUpdate next);

    /**
     * Updates several parameters on one backend and their state in place: one after another, unless overridden.
     *
     * @param next at least one
     */
    protected void updateAll(List<ParameterUpdate> next) {
        next.forEach(this::update);
    }

    /**
     * Runs the deferred sums of gradients, then updates every parameter that has a gradient. Collective.
     *
     * @throws LayoutException if a parameter's layout has changed since the optimizer was made; nothing is changed
     * @throws IllegalStateException if a parameter has been placed or materialized again since the optimizer was made
     * @throws CommunicationException on every rank of an axis, if a parameter has a gradient on some of them only; nothing is
     *     changed
     */
    public final void step() {
        prepare();
        updateParameters();
    }

    /**
     * As {@link #step}, unless a gradient holds an infinity or a NaN on any rank: then no rank changes a parameter, state or
     * step count. Collective; one gather of a few numbers decides for all.
     *
     * @return whether the step was taken, the same on every rank
     */
    public final boolean stepIfFinite() {
        prepare();
        if (!Double.isFinite(GradientNorm.of(ReadyGradient.of(parameters), NormType.INF))) {
            return false;
        }
        updateParameters();
        return true;
    }

    private void prepare() {
        checkUnmoved();
        if (!compared || CHECK_ALWAYS) {
            GradientPresence.compare(slots);
            compared = true;
        }
        agreement.endStep(slots, () -> kind() + new TreeMap<>(settings()), this::learningRate);
        Gradients.finish(parameters);
    }

    private void checkUnmoved() {
        for (Slot slot : slots) {
            slot.checkUnmoved(kind());
        }
    }

    private void updateParameters() {
        checkedRate();
        List<Slot> changed = new ArrayList<>();
        Map<Backend, List<ParameterUpdate>> updates = new LinkedHashMap<>();
        Map<ParameterGroup, StepNumber> rates = new IdentityHashMap<>();
        Map<Long, StepNumber> counts = new HashMap<>(); // shared by parameters that have taken equally many steps
        for (Slot slot : slots) {
            if (slot.hasGradient()) {
                slot.ensureState(stateNames.size());
                StepNumber rate = rates.computeIfAbsent(
                        slot.group(), group -> StepNumber.computeDouble(() -> checkedRate() * group.rateFactor()));
                StepNumber count =
                        counts.computeIfAbsent(slot.steps(), n -> StepNumber.compute(() -> slot.steps() + 1));
                Double decay = slot.group().weightDecay();
                updates.computeIfAbsent(slot.backend(), backend -> new ArrayList<>())
                        .add(slot.next(count, rate, decay == null ? weightDecay : decay));
                changed.add(slot);
            }
        }
        updates.values().forEach(this::updateAll);
        StepRecording.everyStep(() -> {
            changed.forEach(Slot::stepped);
            stepCount++;
        });
    }

    private double checkedRate() {
        double rate = learningRate();
        Checks.notNegative("the learning rate after " + stepCount + " steps", rate);
        return rate;
    }

    /** Clears the gradients of all its parameters. */
    public final void clearGradients() {
        for (Parameter parameter : parameters) {
            if (parameter.isMaterialized()) {
                parameter.tensor().clearGrad();
            }
        }
    }

    /** The learning rate of the next step, without any group's factor. */
    public final double learningRate() {
        return schedule.rate(stepCount);
    }

    /** Number of steps finished. */
    public final long stepCount() {
        return stepCount;
    }

    /** Its parameters by name, tied ones once, frozen ones included. */
    public final Map<String, Parameter> parameters() {
        Map<String, Parameter> all = new LinkedHashMap<>();
        for (Slot slot : slots) {
            all.put(slot.name(), slot.parameter());
        }
        return all;
    }

    /**
     * All state to save besides the parameters, by name. It shares the optimizer's memory: save or gather it before the next
     * step.
     *
     * <table>
     * <caption>Names, for a parameter {@code w}</caption>
     * <tr><th>name</th><th>what</th><th>layout</th></tr>
     * <tr><td>{@code step}</td><td>INT64 [], steps finished</td><td>none</td></tr>
     * <tr><td>{@code w.step}</td><td>INT64 [], steps w has taken</td><td>none</td></tr>
     * <tr><td>{@code w.m}, {@code w.v}, {@code w.momentum}</td><td>as the optimizer names them</td><td>that of w</td></tr>
     * <tr><td>{@code optimizer.AdamW.beta1} and the like</td><td>FLOAT64 [], kind and options of the optimizer</td>
     *     <td>none</td></tr>
     * <tr><td>{@code w.master}</td><td>FLOAT32 copy of a 16-bit w</td><td>that of w</td></tr>
     * </table>
     *
     * @throws LayoutException if a parameter's layout has changed since the optimizer was made
     * @throws IllegalStateException if a parameter has been placed or materialized again since the optimizer was made
     */
    public final Map<String, Tensor> state() {
        checkUnmoved();
        return OptimizerState.of(slots, stateNames, stepCount, kind(), description(stepCount));
    }

    /**
     * Loads what {@link #state} returned in another run, on any number of ranks; nothing is changed if it does not fit.
     *
     * @param values by name, the same on every rank: whole tensors, each rank keeping its part; or tensors on the mesh
     * @throws IllegalArgumentException listing every missing or unknown name, every shape or type that differs, and every
     *     option that this optimizer has otherwise
     * @throws LayoutException if a parameter's layout has changed since the optimizer was made
     * @throws IllegalStateException if a parameter has been placed or materialized again since the optimizer was made
     */
    public final void loadState(Map<String, ? extends Tensor> values) {
        checkUnmoved();
        stepCount = OptimizerState.load(slots, stateNames, values, kind(), this::description);
    }

    /**
     * As {@link #loadState}, going on with this optimizer's options where those of the state are different; its kind must be
     * the same.
     */
    public final void loadStateWithOtherOptions(Map<String, ? extends Tensor> values) {
        checkUnmoved();
        stepCount = OptimizerState.load(slots, stateNames, values, kind(), null);
    }

    @Override
    public String toString() {
        return kind() + " of " + slots.size() + " parameters, " + stepCount + " steps finished";
    }
}
