package org.tp4j.autograd.internal;

import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.tp4j.comm.internal.agreement.FactKind;
import org.tp4j.comm.internal.agreement.FactSheet;
import org.tp4j.comm.internal.agreement.Ledger;
import org.tp4j.comm.record.AbstractProcessGroup;
import org.tp4j.mesh.Axis;
import org.tp4j.mesh.DeviceMesh;
import org.tp4j.op.Operation;
import org.tp4j.tensor.Device;
import org.tp4j.tensor.ExecutionContext;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.StepRecording;

/**
 * Facts that must be equal on all ranks of a mesh, for its ranks' ledgers: the program runs on all of them. In a captured
 * step they are told again each time it runs.
 */
public final class Agreed {
    private final Ledger ledger;
    private final FactSheet whole;
    private final Map<Axis, FactSheet> alongAxes = new ConcurrentHashMap<>();

    private Agreed(DeviceMesh mesh) {
        ledger = mesh.axis(0).group() instanceof AbstractProcessGroup group ? group.ledger() : new Ledger(0);
        whole = ledger.facts(mesh.worldRanks());
    }

    private record Key(List<Axis> axes) {}

    /** Those of a mesh. */
    public static Agreed on(DeviceMesh mesh) {
        return (Agreed) mesh.cache().computeIfAbsent(new Key(mesh.axes()), key -> new Agreed(mesh));
    }

    /** A hash of type, shape and elements. */
    public static long hash(NdArray array) {
        return MeshBorder.hash(array);
    }

    /** Whether hashing needs no wait for a device. */
    public static boolean isCheapToHash(NdArray array) {
        return array.backend().holdsValues() && array.backend().device().type().equals(Device.CPU.type());
    }

    /**
     * Waits for what the ranks of some meshes have done so far to be compared, usually not at all.
     *
     * @throws org.tp4j.comm.DisagreementException if ranks were found to disagree
     */
    public static void settle(Collection<DeviceMesh> meshes) {
        Set<Ledger> ledgers = new LinkedHashSet<>();
        for (DeviceMesh mesh : meshes) {
            Agreed agreed = on(mesh);
            if (agreed.isOn()) {
                ledgers.add(agreed.ledger);
            }
        }
        ledgers.forEach(ledger -> ledger.settle(Ledger.SETTLE_MS));
    }

    /** The rank's ledger. */
    public Ledger ledger() {
        return ledger;
    }

    /** Whether facts about all of the mesh are compared; if not, they need not be computed. */
    public boolean isOn() {
        return whole.isOn();
    }

    /** An operation that every rank runs; a fact of each run of a captured step. */
    void runs(Operation operation, String module) {
        if (isOn()) {
            StepRecording.everyStep(() -> {
                long start = System.nanoTime();
                whole.add(operation.fact(), module, FactKind.OCCURRENCE, 0);
                ledger.spent(System.nanoTime() - start);
            });
        }
    }

    /** Something that happens on every rank: it is described by an immutable value. */
    public void happens(Object what, String module) {
        whole.add(what, module, FactKind.OCCURRENCE, 0);
    }

    /** A number that every rank has. */
    public void number(Object what, String module, double value) {
        whole.add(what, module, FactKind.NUMBER, Double.doubleToRawLongBits(value));
    }

    /** A hash of content that every rank has. */
    public void content(Object what, String module, long hash) {
        whole.add(what, module, FactKind.CONTENT, hash);
    }

    /** A hash of content that the ranks along an axis have. */
    public void contentAlong(Axis axis, Object what, long hash) {
        FactSheet sheet =
                alongAxes.computeIfAbsent(axis, a -> ledger.facts(a.group().worldRanks()));
        sheet.add(what, ExecutionContext.current().modulePath(), FactKind.CONTENT, hash);
    }
}
