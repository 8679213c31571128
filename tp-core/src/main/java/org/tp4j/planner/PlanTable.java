package org.tp4j.planner;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.tp4j.comm.record.CommunicationLog;
import org.tp4j.layout.DTensor;
import org.tp4j.layout.Layout;
import org.tp4j.mesh.DeviceMesh;
import org.tp4j.nn.Module;
import org.tp4j.nn.Parameter;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.Tensor;

/**
 * A model under a plan: the layout of each parameter, what flows between the modules, what a step communicates, and the
 * memory it takes. Recorded by a {@link DryRun}, so it shows what a real run does. {@link #toString} prints it; equal layers
 * share a line.
 *
 * @param title mesh, rank and type
 * @param parameters all parameters; a tied one once
 * @param activations inputs and outputs of the modules, in the order of the run
 * @param calls collectives, in the order of the run
 * @param totals sums
 */
public record PlanTable(
        String title, List<Weight> parameters, List<Activation> activations, List<Call> calls, Totals totals) {
    /**
     * A parameter.
     *
     * @param name dotted path
     * @param global shape of the whole
     * @param local shape on this rank
     * @param layout its layout
     * @param bytes on this rank
     * @param leastBytes on the rank that holds least
     * @param mostBytes on the rank that holds most
     */
    public record Weight(
            String name, Shape global, Shape local, Layout layout, long bytes, long leastBytes, long mostBytes) {}

    /**
     * An input or output of a module.
     *
     * @param module dotted path
     * @param direction {@code in} (as the module receives it, after its style) or {@code out}, with the tensor's name where the
     *     module takes or returns several
     * @param type of the elements
     * @param global shape of the whole
     * @param local shape on this rank
     * @param layout its layout; null for a plain tensor
     */
    public record Activation(
            String module,
            String direction,
            DType type,
            Shape global,
            Shape local,
            @Nullable Layout layout) {
        static Activation of(String module, String direction, Tensor tensor) {
            Layout layout = tensor instanceof DTensor onMesh ? onMesh.layout() : null;
            return new Activation(
                    module,
                    direction,
                    tensor.dtype(),
                    tensor.shape(),
                    tensor.local().shape(),
                    layout);
        }
    }

    /** The parts of a step. */
    public enum Phase {
        /** The model and its loss. */
        FORWARD,
        /** The gradients. */
        BACKWARD,
        /** The deferred sums of parameters' gradients, just before the optimizer's step. */
        SUMS
    }

    /**
     * One collective.
     *
     * @param phase when
     * @param entry what, where and how much
     */
    public record Call(Phase phase, CommunicationLog.Entry entry) {}

    /**
     * Sums.
     *
     * @param parameters elements of the whole model
     * @param parameterBytes of parameters on this rank
     * @param leastParameterBytes on the rank that holds least
     * @param mostParameterBytes on the rank that holds most
     * @param adamWBytes of AdamW's state on this rank: two numbers per parameter, and a FLOAT32 copy of 16-bit ones
     * @param activationBytes on this rank, held when backward begins
     */
    public record Totals(
            long parameters,
            long parameterBytes,
            long leastParameterBytes,
            long mostParameterBytes,
            long adamWBytes,
            long activationBytes) {}

    static PlanTable of(
            DryRun run, DeviceMesh mesh, Module model, List<Activation> activations, List<Call> calls, long held) {
        int[] sizes = mesh.axes().stream().mapToInt(a -> a.size()).toArray();
        long[] perRank = new long[mesh.size()];
        List<Weight> weights = new ArrayList<>();
        Map<Object, long[]> known = new HashMap<>();
        model.parameters().forEach((name, parameter) -> {
            long[] bytes = known.computeIfAbsent(
                    List.of(parameter.shape(), layoutOf(parameter)), k -> bytesOnRanks(parameter, sizes, run.type()));
            long least = Long.MAX_VALUE;
            long most = 0;
            for (int r = 0; r < bytes.length; r++) {
                perRank[r] += bytes[r];
                least = Math.min(least, bytes[r]);
                most = Math.max(most, bytes[r]);
            }
            Shape local = parameter.tensor().local().shape();
            long mine = local.elements() * run.type().bytes();
            weights.add(new Weight(name, parameter.shape(), local, layoutOf(parameter), mine, least, most));
        });
        long mine = weights.stream().mapToLong(Weight::bytes).sum();
        Totals totals = new Totals(
                model.parameterCount(),
                mine,
                java.util.Arrays.stream(perRank).min().orElse(0),
                java.util.Arrays.stream(perRank).max().orElse(0),
                mine / run.type().bytes() * adamWBytesAnElement(run.type()),
                held);
        String title = "plan on mesh " + mesh + ", split along '" + run.axis() + "', as rank " + run.rank() + ", "
                + run.type();
        return new PlanTable(title, weights, activations, calls, totals);
    }

    private static Layout layoutOf(Parameter parameter) {
        return Objects.requireNonNull(parameter.layout());
    }

    private static long[] bytesOnRanks(Parameter parameter, int[] sizes, DType type) {
        int ranks = java.util.Arrays.stream(sizes).reduce(1, (a, b) -> a * b);
        long[] bytes = new long[ranks];
        for (int rank = 0; rank < ranks; rank++) {
            int[] at = new int[sizes.length];
            int rest = rank;
            for (int a = sizes.length - 1; a >= 0; a--) {
                at[a] = rest % sizes[a];
                rest /= sizes[a];
            }
            bytes[rank] =
                    layoutOf(parameter).regionOf(parameter.shape(), at).local().elements() * type.bytes();
        }
        return bytes;
    }

    private static int adamWBytesAnElement(DType type) {
        DType state = type.accumulator();
        return 2 * state.bytes() + (type.isHalf() ? state.bytes() : 0);
    }

    /** Bytes communicated in one part of a step: the whole value of each call. */
    public long bytes(Phase phase) {
        return calls.stream()
                .filter(call -> call.phase == phase)
                .mapToLong(call -> call.entry.bytes())
                .sum();
    }

    /** The table as text. */
    @Override
    public String toString() {
        TextTable weights = new TextTable("parameter", "whole", "here", "placement", "bytes here", "on each rank");
        parameters.forEach(w -> weights.row(
                w.name,
                w.global,
                w.local,
                w.layout,
                w.bytes,
                w.leastBytes == w.mostBytes ? w.mostBytes : w.leastBytes + " to " + w.mostBytes));
        TextTable flow = new TextTable("module", "", "type", "whole", "here", "layout");
        activations.forEach(a -> flow.row(
                name(a.module), a.direction, a.type, a.global, a.local, a.layout == null ? "plain" : a.layout));
        TextTable traffic = new TextTable("module", "when", "collective", "axis", "ranks", "type", "elements", "bytes");
        calls.forEach(c -> traffic.row(
                name(c.entry.modulePath()),
                c.phase.name().toLowerCase(Locale.ROOT),
                c.entry.kind(),
                c.entry.group(),
                c.entry.groupSize(),
                Objects.requireNonNullElse(c.entry.dtype(), ""),
                c.entry.elements(),
                c.entry.bytes()));
        return title + "\n\n" + weights + "\n" + flow + "\n" + traffic + "\n" + sums();
    }

    private static String name(String path) {
        return path.isEmpty() ? "(model)" : path;
    }

    private String sums() {
        Map<String, Object> lines = new LinkedHashMap<>();
        lines.put("parameters of the whole model", totals.parameters);
        lines.put("bytes of parameters here", totals.parameterBytes);
        lines.put("  on the rank with least", totals.leastParameterBytes);
        lines.put("  on the rank with most", totals.mostParameterBytes);
        lines.put("bytes of gradients here", totals.parameterBytes);
        lines.put("bytes of AdamW's state here", totals.adamWBytes);
        lines.put("bytes of activations here, before backward", totals.activationBytes);
        for (Phase phase : Phase.values()) {
            lines.put("bytes communicated, " + phase.name().toLowerCase(Locale.ROOT), bytes(phase));
        }
        TextTable table = new TextTable("total", "");
        lines.forEach(table::row);
        return table.toString();
    }
}
