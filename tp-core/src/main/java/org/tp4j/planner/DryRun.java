package org.tp4j.planner;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.tp4j.autograd.Tensors;
import org.tp4j.autograd.internal.MeshBorder;
import org.tp4j.comm.engine.FakeGroup;
import org.tp4j.comm.record.CommunicationLog;
import org.tp4j.comm.record.RecordingGroup;
import org.tp4j.layout.DTensor;
import org.tp4j.layout.Layout;
import org.tp4j.layout.Placement;
import org.tp4j.mesh.DeviceMesh;
import org.tp4j.nn.Gradients;
import org.tp4j.nn.Layer;
import org.tp4j.nn.Module;
import org.tp4j.parallel.ParallelStyle;
import org.tp4j.parallel.Parallelize;
import org.tp4j.parallel.PlanException;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.Scope;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.Tensor;
import org.tp4j.tensor.meta.MetaBackend;

/**
 * Runs one step of a model under a plan for its shapes alone: one process acts as one rank of many, arrays have no memory,
 * and the collectives are recorded instead of run. Shows on a laptop, in a moment, what a plan costs.
 *
 * <pre>{@code
 * DryRun run = DryRun.on("tp", 8, Shape.of(4096, 8192)).withType(DType.BFLOAT16);
 * System.out.println(run.describe(() -> new Mlp(8192, 28672, Activation.GELU, false), plan));
 * }</pre>
 *
 * @param axes names and sizes of the mesh's axes, outermost first
 * @param axis the one the plan splits along
 * @param rank the rank to act as
 * @param type of parameters and of inputs that are not ids
 * @param input shape of the whole input
 * @param ids whether the input is ids (INT64, without a gradient); otherwise its gradient is wanted
 * @param inputPlacements how the input lies on the axes; empty for a plain tensor, the same on every rank
 * @param loss maps the model's output to the tensor, of any shape, that backward starts at
 */
public record DryRun(
        List<Map.Entry<String, Integer>> axes,
        String axis,
        int rank,
        DType type,
        Shape input,
        boolean ids,
        List<Placement> inputPlacements,
        UnaryOperator<Tensor> loss) {
    /** Copies the lists. */
    public DryRun {
        axes = List.copyOf(axes);
        inputPlacements = List.copyOf(inputPlacements);
    }

    /** As rank 0 of a mesh of one axis, in FLOAT32, with a plain input of that shape; backward starts at the output. */
    public static DryRun on(String axis, int ranks, Shape input) {
        return new DryRun(
                List.of(Map.entry(axis, ranks)),
                axis,
                0,
                DType.FLOAT32,
                input,
                false,
                List.of(),
                UnaryOperator.identity());
    }

    /** The same on a mesh of several axes, outermost first; the plan's must be one of them. */
    @SafeVarargs
    @SuppressWarnings("varargs")
    public final DryRun withAxes(Map.Entry<String, Integer>... all) {
        return new DryRun(Arrays.asList(all), axis, rank, type, input, ids, inputPlacements, loss);
    }

    /** The same as another rank. */
    public DryRun withRank(int other) {
        return new DryRun(axes, axis, other, type, input, ids, inputPlacements, loss);
    }

    /** The same with parameters and inputs of another type. */
    public DryRun withType(DType other) {
        return new DryRun(axes, axis, rank, other, input, ids, inputPlacements, loss);
    }

    /** The same with an input of ids. */
    public DryRun withIds() {
        return new DryRun(axes, axis, rank, type, input, true, inputPlacements, loss);
    }

    /** The same with an input laid out on the mesh, such as {@code Shard(0)} on a data-parallel axis. */
    public DryRun withInputPlacements(Placement... placements) {
        return new DryRun(axes, axis, rank, type, input, ids, List.of(placements), loss);
    }

    /** The same with a loss; labels and the like are tensors on {@link MetaBackend}. */
    public DryRun withLoss(UnaryOperator<Tensor> of) {
        return new DryRun(axes, axis, rank, type, input, ids, inputPlacements, of);
    }

    /**
     * Describes a layer under a plan, before anything is allocated or started.
     *
     * @param made makes the layer, which cannot be used afterwards
     * @param plan as for {@link Parallelize#apply(Module, DeviceMesh, String, Map)}
     * @throws PlanException if the plan does not fit
     */
    public PlanTable describe(Supplier<? extends Layer> made, Map<String, ? extends ParallelStyle> plan) {
        return describe(made, plan, Layer::apply);
    }

    /**
     * Describes a model that takes more than one tensor.
     *
     * @param forward runs the model on the input; its other arguments are tensors on {@link MetaBackend}
     */
    public <M extends Module> PlanTable describe(
            Supplier<? extends M> made,
            Map<String, ? extends ParallelStyle> plan,
            BiFunction<M, Tensor, Tensor> forward) {
        return describeAll(made, Map.of(axis, plan), forward);
    }

    /**
     * Describes a model under several plans, each along an axis of its own.
     *
     * @param plans by axis; they are applied in the order of the mesh's axes, innermost first
     */
    public <M extends Module> PlanTable describeAll(
            Supplier<? extends M> made,
            Map<String, ? extends Map<String, ? extends ParallelStyle>> plans,
            BiFunction<M, Tensor, Tensor> forward) {
        int ranks = axes.stream().mapToInt(Map.Entry::getValue).reduce(1, Math::multiplyExact);
        CommunicationLog log = new CommunicationLog();
        DeviceMesh mesh = DeviceMesh.of(new RecordingGroup(new FakeGroup(rank, ranks), log), MetaBackend.get(), axes);
        M model = made.get();
        for (int a = axes.size() - 1; a >= 0; a--) {
            Map<String, ? extends ParallelStyle> plan = plans.get(axes.get(a).getKey());
            if (plan != null) {
                Parallelize.apply(model, mesh, axes.get(a).getKey(), plan);
            }
        }
        model.materialize(MetaBackend.get(), type, 0);
        List<PlanTable.Activation> activations = observe(model);
        List<PlanTable.Call> calls = new ArrayList<>();
        long held;
        try (Scope step = Scope.open("dry run")) {
            Tensor x = inputOn(mesh);
            Tensor y = loss.apply(forward.apply(model, x));
            move(log, PlanTable.Phase.FORWARD, calls);
            held = step.bytes() - x.local().elements() * x.dtype().bytes();
            if (y.requiresGrad()) {
                y.backward(gradientOf(y));
            }
            move(log, PlanTable.Phase.BACKWARD, calls);
            Gradients.finish(model.parameters().values());
            move(log, PlanTable.Phase.SUMS, calls);
        }
        return PlanTable.of(this, mesh, model, activations.stream().distinct().toList(), calls, held);
    }

    private Tensor inputOn(DeviceMesh mesh) {
        DType of = ids ? DType.INT64 : type;
        if (inputPlacements.isEmpty()) {
            return Tensors.zeros(mesh.backend(), of, input).requiresGrad(!ids);
        }
        Layout layout = Layout.of(mesh, input.dims(), inputPlacements);
        Tensor local =
                Tensors.zeros(mesh.backend(), of, layout.localShape(input)).requiresGrad(!ids);
        return MeshBorder.trusted(local, input, layout);
    }

    private static Tensor gradientOf(Tensor y) {
        if (!(y instanceof DTensor onMesh)) {
            return Tensors.zeros(y.backend(), y.dtype(), y.shape());
        }
        Layout dual = onMesh.layout().dual();
        return MeshBorder.trusted(Tensors.zeros(y.backend(), y.dtype(), dual.localShape(y.shape())), y.shape(), dual);
    }

    private static void move(CommunicationLog log, PlanTable.Phase phase, List<PlanTable.Call> to) {
        log.entries().forEach(entry -> to.add(new PlanTable.Call(phase, entry)));
        log.clear();
    }

    /** Records what every module computes on (after the input hooks of its style) and what it returns. */
    private static List<PlanTable.Activation> observe(Module model) {
        List<PlanTable.Activation> seen = new ArrayList<>();
        model.modules().forEach((path, module) -> {
            module.addEveryInputHook((name, tensor) -> {
                seen.add(PlanTable.Activation.of(path, label("in", name), tensor));
                return tensor;
            });
            module.addEveryOutputHook((name, tensor) -> {
                seen.add(PlanTable.Activation.of(path, label("out", name), tensor));
                return tensor;
            });
        });
        return seen;
    }

    private static String label(String direction, String name) {
        return name.equals(Layer.INPUT) || name.equals(Layer.OUTPUT) ? direction : direction + " " + name;
    }
}
