package org.tp4j.optim;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.DoubleSupplier;
import java.util.function.Supplier;
import org.tp4j.autograd.internal.Agreed;
import org.tp4j.layout.Layout;
import org.tp4j.mesh.Axis;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.StepRecording;

/**
 * What ranks must agree on in an optimizer's step: which parameters have a gradient, the optimizer's numbers, and now and
 * then a piece of the parameters that several ranks hold. A step of training ends here: the rank's words are posted, and what
 * is known of earlier ones is thrown before anything is changed.
 */
final class OptimizerAgreement {
    /** Elements of a parameter that are hashed per step: some microseconds. */
    private static final long PIECE = 4096;

    private final List<Entry> entries = new ArrayList<>();
    private final Set<Agreed> meshes = new LinkedHashSet<>();
    private boolean prepared;
    private String settings = "";
    private int next;
    private long offset;

    private record Entry(Slot slot, Agreed agreed, String gradient, String values) {}

    /**
     * Ends a step.
     *
     * @param optimizer the optimizer in words, asked for once
     * @throws org.tp4j.comm.DisagreementException if ranks were found to disagree
     */
    void endStep(List<Slot> slots, Supplier<String> optimizer, DoubleSupplier learningRate) {
        if (!prepared) {
            prepare(slots, optimizer.get());
        }
        if (!meshes.isEmpty()) {
            StepRecording.everyStep(() -> tell(learningRate.getAsDouble()));
        }
    }

    private void prepare(List<Slot> slots, String optimizer) {
        prepared = true;
        StringBuilder text = new StringBuilder(optimizer);
        Set<ParameterGroup> groups = new LinkedHashSet<>();
        for (Slot slot : slots) {
            Layout layout = slot.layout();
            Agreed agreed = layout == null ? null : Agreed.on(layout.mesh());
            if (agreed != null && agreed.isOn()) {
                String name = "parameter '" + slot.name() + "'";
                entries.add(new Entry(slot, agreed, "gradient of " + name, "values of " + name + ","));
                meshes.add(agreed);
                groups.add(slot.group());
            }
        }
        for (ParameterGroup group : groups) {
            text.append(" group of ")
                    .append(group.parameters().size())
                    .append(" parameters: rate factor ")
                    .append(group.rateFactor())
                    .append(", weight decay ")
                    .append(group.weightDecay());
        }
        settings = text.toString();
    }

    private void tell(double rate) {
        long start = System.nanoTime();
        for (Agreed mesh : meshes) {
            mesh.number("learning rate", "", rate);
            mesh.happens(settings, "");
        }
        for (Entry entry : entries) {
            if (entry.slot().hasGradient()) {
                entry.agreed().happens(entry.gradient(), "");
            }
        }
        hashPiece();
        meshes.iterator().next().ledger().spent(System.nanoTime() - start);
        for (Agreed mesh : meshes) {
            mesh.ledger().endStep();
        }
    }

    /** Replicas that have come apart are found in as many steps as there are pieces. */
    private void hashPiece() {
        Entry entry = entries.get(next);
        NdArray values = entry.slot().values();
        long count = Math.min(PIECE, values.elements() - offset);
        Layout layout = entry.slot().layout();
        if (count > 0 && layout != null && Agreed.isCheapToHash(values)) {
            Long hash = null;
            for (int a = 0; a < layout.placements().size(); a++) {
                Axis axis = layout.mesh().axis(a);
                if (layout.placement(a).isWhole() && axis.size() > 1) {
                    hash = hash == null ? (Long) Agreed.hash(values.window(offset, Shape.of(count))) : hash;
                    entry.agreed().contentAlong(axis, entry.values(), hash);
                }
            }
        }
        offset += PIECE;
        // by the whole parameter's size, so that ranks with shards of other sizes stay in step
        if (offset >= entry.slot().parameter().shape().elements()) {
            offset = 0;
            next = (next + 1) % entries.size();
        }
    }
}
