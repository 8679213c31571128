package org.tp4j.autograd.internal;

import org.jspecify.annotations.Nullable;
import org.tp4j.layout.Layout;
import org.tp4j.op.BackwardContext;
import org.tp4j.op.Operation;
import org.tp4j.op.TargetLayout;
import org.tp4j.tensor.Backend;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.Tensor;

/** The tape's step of an {@link Operation}. */
final class OperationNode extends Node {
    private final Operation operation;
    private final Shape[] shapes;
    private final TargetLayout[] inputLayouts;
    private final int[] versions;
    private @Nullable EagerTensor @Nullable [] inputs;
    private @Nullable EagerTensor @Nullable [] outputs;
    private final @Nullable Regather[] regathers;
    private final int[] outputVersions;
    private final Backend backend;
    private final DType dtype;

    OperationNode(Operation operation, EagerTensor[] inputs, EagerTensor[] outputs, @Nullable Edge[] edges) {
        super(edges);
        this.operation = operation;
        int n = inputs.length;
        this.shapes = new Shape[n];
        this.inputLayouts = new TargetLayout[n];
        this.versions = new int[n];
        this.regathers = new Regather[n];
        @Nullable EagerTensor[] kept = new EagerTensor[n];
        for (int i = 0; i < n; i++) {
            shapes[i] = inputs[i].shape();
            inputLayouts[i] = TargetLayout.of(inputs[i].layoutOrNull());
            versions[i] = inputs[i].array().storage().version();
            if (operation.keepsInput(i)) {
                Regather regather = inputs[i] instanceof MeshTensor tensor ? tensor.regather() : null;
                if (regather == null) {
                    kept[i] = inputs[i];
                    inputs[i].array().storage().pin();
                } else {
                    regathers[i] = regather;
                    regather.addUser();
                }
            }
        }
        this.inputs = kept;
        this.backend = outputs[0].backend();
        this.dtype = outputs[0].dtype();
        boolean keepsOutputs = operation.keepsOutputs();
        this.outputs = keepsOutputs ? outputs : null;
        this.outputVersions = new int[keepsOutputs ? outputs.length : 0];
        for (int i = 0; i < outputVersions.length; i++) {
            outputVersions[i] = outputs[i].array().storage().version();
            outputs[i].array().storage().pin();
        }
    }

    @Override
    String name() {
        return operation.name();
    }

    @Override
    void finished() {
        if (!isSpent()) {
            unpin(inputs);
            unpin(outputs);
            for (Regather regather : regathers) {
                if (regather != null) {
                    regather.done();
                }
            }
        }
        inputs = null;
        outputs = null;
        spend();
    }

    private static void unpin(@Nullable EagerTensor @Nullable [] kept) {
        if (kept != null) {
            for (EagerTensor tensor : kept) {
                if (tensor != null) {
                    tensor.array().storage().unpin();
                }
            }
        }
    }

    @Override
    void backward(BackwardPass pass, EagerTensor gradient) {
        Layout layout = gradient.layoutOrNull();
        if (layout != null) {
            pass.agreed(layout.mesh()).runs(operation, modulePath());
        }
        operation.backward(new Context(pass), gradient);
    }

    private final class Context implements BackwardContext {
        private final BackwardPass pass;

        Context(BackwardPass pass) {
            this.pass = pass;
        }

        @Override
        public void prefetch(int i) {
            Regather regather = regathers[i];
            if (regather != null) {
                regather.start();
            }
        }

        @Override
        public Tensor input(int i) {
            Regather regather = regathers[i];
            if (regather != null) {
                if (regather.isStale()) {
                    throw changed("operand", i, shapes[i]);
                }
                return regather.start();
            }
            EagerTensor tensor = inputs == null ? null : inputs[i];
            if (tensor == null) {
                throw new IllegalStateException(operation.name() + " has not kept operand " + i);
            }
            checkUnchanged(tensor, "operand", i, versions[i]);
            return tensor;
        }

        private void checkUnchanged(EagerTensor tensor, String what, int i, int version) {
            if (tensor.array().storage().version() != version) {
                throw changed(what, i, tensor.shape());
            }
        }

        private IllegalStateException changed(String what, int i, Shape shape) {
            return new IllegalStateException("backward through " + operation.name()
                    + (modulePath().isEmpty() ? "" : " in " + modulePath()) + " needs " + what + " " + i
                    + " of shape " + shape + " as it was, but it has been changed in place since;"
                    + " HINT: run backward before the change, or change a copy");
        }

        @Override
        public Tensor output(int i) {
            EagerTensor tensor = outputs == null ? null : outputs[i];
            if (tensor == null) {
                throw new IllegalStateException(operation.name() + " has not kept its results");
            }
            checkUnchanged(tensor, "result", i, outputVersions[i]);
            return tensor;
        }

        @Override
        public boolean wants(int i) {
            return edges()[i] != null;
        }

        @Override
        public Shape inputShape(int i) {
            return shapes[i];
        }

        @Override
        public TargetLayout inputLayout(int i) {
            return inputLayouts[i];
        }

        @Override
        public void give(int i, Tensor gradient) {
            Edge edge = edges()[i];
            if (edge != null) {
                pass.deliver(OperationNode.this, edge, (EagerTensor) gradient);
            }
        }

        @Override
        public void give(int i, Operation other, Tensor... in) {
            Edge edge = edges()[i];
            if (edge != null) {
                pass.deliver(OperationNode.this, edge, other, in);
            }
        }

        @Override
        public DType gradientType(int i) {
            Edge edge = edges()[i];
            return edge == null ? dtype : edge.dtype();
        }

        @Override
        public Tensor run(Operation other, Tensor... in) {
            return Dispatch.run(other, in);
        }

        @Override
        public Tensor[] runAll(Operation other, Tensor... in) {
            return Dispatch.runAll(other, in);
        }

        @Override
        public Tensor number(double value) {
            return EagerTensor.number(backend, dtype, value);
        }
    }
}
