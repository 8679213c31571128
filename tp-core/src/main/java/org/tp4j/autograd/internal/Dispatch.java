package org.tp4j.autograd.internal;

import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.tp4j.layout.Layout;
import org.tp4j.layout.LayoutException;
import org.tp4j.mesh.DeviceMesh;
import org.tp4j.op.ForwardContext;
import org.tp4j.op.Operation;
import org.tp4j.op.TensorSpec;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.ExecutionContext;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Region;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.Tensor;

/**
 * Runs every operation: decides layouts (once for each combination of layouts and shapes, then from a cache), brings
 * operands to what was decided (never with communication), computes this rank's part, and records the step if a gradient is
 * wanted.
 */
public final class Dispatch {
    private Dispatch() {}

    /** Runs an operation; returns its first result. */
    public static Tensor run(Operation operation, Tensor... in) {
        return runAll(operation, in)[0];
    }

    /** Runs an operation; returns all results, of which only the first can carry a gradient. */
    public static EagerTensor[] runAll(Operation operation, Tensor... in) {
        EagerTensor[] operands = operands(operation, in);
        DeviceMesh mesh = mesh(operation, operands);
        boolean wanted = false;
        for (EagerTensor operand : operands) {
            wanted |= operand.requiresGrad();
        }
        boolean recording = wanted
                && operation.differentiable()
                && ExecutionContext.current().gradientsRecorded();
        return mesh == null ? plain(operation, operands, recording) : onMesh(operation, operands, mesh, recording);
    }

    /**
     * Adds the result of an operation, which is not recorded, to {@code sum} in place.
     *
     * @return false, having done nothing, if the result is of another layout or type
     */
    static boolean addTo(EagerTensor sum, Operation operation, Tensor... in) {
        EagerTensor[] operands = operands(operation, in);
        DeviceMesh mesh = mesh(operation, operands);
        NdArray into = sum.array();
        if (mesh == null) {
            TensorSpec[] results = operation.inferAll(Decisions.specs(operands));
            if (sum.layoutOrNull() != null || results[0].dtype() != into.dtype()) {
                return false;
            }
            operation.forwardAll(new Plain(operands, results, into.await()), locals(operands));
        } else {
            enter(operation, operands, mesh, false);
            Decisions.Decided decided = Decisions.of(operation, operands, mesh, false);
            if (!Objects.equals(decided.output(0), sum.layoutOrNull()) || decided.term(0) != into.dtype()) {
                return false;
            }
            EagerTensor[] used = bring(operands, decided, false);
            operation.forwardAll(new OnMesh(used, decided, into.await()), parts(used, decided.widened()));
        }
        into.storage().markChanged();
        return true;
    }

    private static EagerTensor[] operands(Operation operation, Tensor[] in) {
        EagerTensor[] operands = new EagerTensor[in.length];
        for (int i = 0; i < in.length; i++) {
            operands[i] = (EagerTensor) in[i];
            if (operands[i].backend() != operands[0].backend()) {
                throw new IllegalArgumentException(operation.name() + ": operands are on "
                        + operands[0].backend().device() + " and "
                        + operands[i].backend().device()
                        + "; HINT: make them on one device");
            }
        }
        return operands;
    }

    private static @Nullable DeviceMesh mesh(Operation operation, EagerTensor[] operands) {
        DeviceMesh mesh = null;
        for (EagerTensor operand : operands) {
            Layout layout = operand.layoutOrNull();
            if (layout != null) {
                mesh = oneMesh(operation, mesh, layout);
            }
        }
        return mesh;
    }

    private static DeviceMesh oneMesh(Operation operation, @Nullable DeviceMesh mesh, Layout layout) {
        if (mesh != null && !mesh.equals(layout.mesh())) {
            throw new LayoutException(
                    operation.name(),
                    operation.name() + ": operands lie on two meshes, "
                            + layout.mesh().differenceTo(mesh));
        }
        return layout.mesh();
    }

    private static EagerTensor[] plain(Operation operation, EagerTensor[] operands, boolean recording) {
        TensorSpec[] specs = Decisions.specs(operands);
        TensorSpec[] results = operation.inferAll(specs);
        NdArray[] arrays = operation.forwardAll(new Plain(operands, results, null), locals(operands));
        EagerTensor[] outputs = new EagerTensor[arrays.length];
        for (int i = 0; i < outputs.length; i++) {
            outputs[i] = new EagerTensor(arrays[i]);
        }
        if (recording) {
            Node.@Nullable Edge[] edges = new Node.Edge[operands.length];
            for (int i = 0; i < edges.length; i++) {
                edges[i] = operands[i].requiresGrad() ? Node.Edge.to(operands[i]) : null;
            }
            outputs[0].computedBy(new OperationNode(operation, operands, outputs, edges));
        }
        return outputs;
    }

    private static EagerTensor[] onMesh(
            Operation operation, EagerTensor[] operands, DeviceMesh mesh, boolean recording) {
        enter(operation, operands, mesh, recording);
        Decisions.Decided decided = Decisions.of(operation, operands, mesh, recording);
        EagerTensor[] used = bring(operands, decided, recording);
        NdArray[] arrays = operation.forwardAll(new OnMesh(used, decided, null), parts(used, decided.widened()));
        EagerTensor[] outputs = new EagerTensor[arrays.length];
        for (int i = 0; i < outputs.length; i++) {
            TensorSpec result = decided.result(i);
            outputs[i] = new MeshTensor(arrays[i], result.shape(), decided.output(i), result.dtype());
        }
        if (recording) {
            Node.@Nullable Edge[] edges = new Node.Edge[operands.length];
            for (int i = 0; i < edges.length; i++) {
                if (operands[i].requiresGrad()) {
                    // a promoted parameter is the leaf itself, used as Replicate
                    EagerTensor target = used[i].requiresGrad() ? used[i] : operands[i];
                    edges[i] = Node.Edge.to(target, decided.input(i));
                }
            }
            outputs[0].computedBy(new OperationNode(operation, used, outputs, edges));
        }
        return outputs;
    }

    private static void enter(Operation operation, EagerTensor[] operands, DeviceMesh mesh, boolean recording) {
        for (int i = 0; i < operands.length; i++) {
            if (operands[i].layoutOrNull() == null) {
                operands[i] = MeshBorder.meet(operands[i], mesh, operation.name(), i, recording);
            }
        }
    }

    private static EagerTensor[] bring(EagerTensor[] operands, Decisions.Decided decided, boolean recording) {
        EagerTensor[] used = new EagerTensor[operands.length];
        for (int i = 0; i < used.length; i++) {
            used[i] = Redistribution.bring((MeshTensor) operands[i], decided.input(i), recording);
        }
        return used;
    }

    private static NdArray[] locals(EagerTensor[] operands) {
        NdArray[] locals = new NdArray[operands.length];
        for (int i = 0; i < locals.length; i++) {
            locals[i] = operands[i].local();
        }
        return locals;
    }

    /** The operands' arrays, floats converted to {@code widened} unless that is null. */
    private static NdArray[] parts(EagerTensor[] operands, @Nullable DType widened) {
        NdArray[] parts = locals(operands);
        for (int i = 0; widened != null && i < parts.length; i++) {
            NdArray narrow = parts[i];
            if (narrow.dtype() != widened && narrow.dtype().isFloating()) {
                parts[i] = NdArray.allocate(narrow.backend(), widened, narrow.shape());
                narrow.backend().elementwise().cast(narrow, parts[i]);
            }
        }
        return parts;
    }

    /** The context on no mesh: every part is the whole. {@code sum} is what to add the result to, if anything. */
    private record Plain(
            EagerTensor[] operands,
            TensorSpec[] results,
            @Nullable NdArray sum) implements ForwardContext {
        @Override
        public Region inputRegion(int i) {
            return Region.whole(operands[i].shape());
        }

        @Override
        public Region outputRegion(int i) {
            return Region.whole(results[i].shape());
        }

        @Override
        public Shape outputShape(int i) {
            return results[i].shape();
        }

        @Override
        public DType outputType(int i) {
            return results[i].dtype();
        }

        @Override
        public boolean addsConstants() {
            return true;
        }

        @Override
        public boolean accumulates() {
            return sum != null;
        }

        @Override
        public NdArray allocate(int i) {
            return sum != null ? sum : NdArray.allocate(operands[0].backend(), outputType(i), outputShape(i));
        }
    }

    /** The context on a mesh. */
    private record OnMesh(
            EagerTensor[] operands,
            Decisions.Decided decided,
            @Nullable NdArray sum) implements ForwardContext {
        @Override
        public Region inputRegion(int i) {
            return decided.input(i).region(operands[i].shape());
        }

        @Override
        public Region outputRegion(int i) {
            return decided.output(i).region(decided.result(i).shape());
        }

        @Override
        public Shape outputShape(int i) {
            return decided.localShape(i);
        }

        @Override
        public DType outputType(int i) {
            return decided.term(i);
        }

        @Override
        public boolean addsConstants() {
            return decided.addsConstants();
        }

        @Override
        public boolean accumulates() {
            return sum != null;
        }

        @Override
        public NdArray allocate(int i) {
            return sum != null ? sum : NdArray.allocate(operands[0].backend(), outputType(i), outputShape(i));
        }
    }
}
