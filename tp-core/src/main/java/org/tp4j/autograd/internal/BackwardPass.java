package org.tp4j.autograd.internal;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;
import org.tp4j.mesh.DeviceMesh;
import org.tp4j.op.Operation;
import org.tp4j.tensor.ExecutionContext;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Storage;
import org.tp4j.tensor.Tensor;

/**
 * One pass backward over the tape. Steps run from the latest to the earliest, each once all gradients of its result have
 * arrived. A redistribution runs the moment its gradient is complete, even in the middle of the step that completed it: its
 * collective is under way while that step computes the rest, so that the all-reduce of dX overlaps with the product dW.
 */
final class BackwardPass {
    /** State of a step that is still to run. */
    static final class Arrivals {
        private int due;
        private @Nullable EagerTensor gradient;
        private boolean owned;
        /** Memory of the gradient and of what was computed from it, and which of it a leaf now owns. */
        private final List<Storage> handedOn = new ArrayList<>(2);

        private @Nullable List<Storage> taken;
        private final java.util.BitSet given = new java.util.BitSet();
    }

    private final PriorityQueue<Node> ready =
            new PriorityQueue<>(Comparator.comparingLong(Node::sequence).reversed());
    /** What may still be arriving when the pass is over. */
    private final List<NdArray> arriving = new ArrayList<>();

    /** Steps that expect a gradient. */
    private final List<Node> seen = new ArrayList<>();

    private final ExecutionContext context = ExecutionContext.current();
    private @Nullable DeviceMesh lastMesh;
    private @Nullable Agreed lastFacts;

    private BackwardPass() {}

    /** Carries {@code seed}, the gradient of {@code root}, back to the leaves. */
    static void run(EagerTensor root, EagerTensor seed) {
        if (!root.requiresGrad()) {
            throw new IllegalStateException(
                    "backward() of a tensor of shape " + root.shape() + " that no gradient flows"
                            + " through; HINT: requiresGrad(true) on what you want gradients of, and no GradMode.noGrad() around"
                            + " the forward pass");
        }
        BackwardPass pass = new BackwardPass();
        String path = pass.context.modulePath();
        boolean recorded = pass.context.setGradientsRecorded(false);
        try {
            pass.walk(root, seed);
        } finally {
            pass.seen.forEach(Node::forget); // even after a failure
            pass.context.setModulePath(path);
            pass.context.setGradientsRecorded(recorded);
        }
    }

    private void walk(EagerTensor root, EagerTensor seed) {
        Node start = root.node();
        if (start == null) {
            EagerTensor collected = GradientLayouts.typed(seed, root.dtype().accumulator());
            root.accumulate(collected, collected == seed);
            return;
        }
        discover(start);
        Arrivals at = start.arrivals();
        at.gradient = seed;
        ready.add(start);
        for (Node node = ready.poll(); node != null; node = ready.poll()) {
            execute(node);
        }
        for (NdArray array : arriving) {
            if (!array.storage().isReleased()) { // otherwise a later gradient has replaced it
                array.await();
            }
        }
    }

    /** Counts how many gradients each step waits for. */
    private void discover(Node start) {
        ArrayDeque<Node> open = new ArrayDeque<>();
        start.expect(new Arrivals());
        open.add(start);
        seen.add(start);
        while (!open.isEmpty()) {
            Node node = open.poll();
            if (node.isSpent()) {
                throw new IllegalStateException("backward has run through " + node.name()
                        + (node.modulePath().isEmpty() ? "" : " in " + node.modulePath())
                        + " before, and what it kept is gone; HINT: compute the loss again, or add losses up first");
            }
            for (Node.@Nullable Edge edge : node.edges()) {
                Node next = edge == null ? null : edge.node();
                if (next != null) {
                    if (!next.isExpected()) {
                        next.expect(new Arrivals());
                        open.add(next);
                        seen.add(next);
                    }
                    next.arrivals().due++;
                }
            }
        }
    }

    private void execute(Node node) {
        Arrivals at = node.arrivals();
        EagerTensor gradient = at.gradient;
        if (gradient != null) {
            context.setModulePath(node.modulePath());
            at.handedOn.add(gradient.array().storage());
            node.backward(this, gradient);
        }
        Node.@Nullable Edge[] edges = node.edges();
        for (int i = 0; i < edges.length; i++) {
            Node.Edge edge = edges[i];
            if (edge != null && !at.given.get(i) && edge.node() != null) {
                arrived(edge.node()); // no gradient came this way: stop waiting for it
            }
        }
        node.forget();
        node.finished();
    }

    /** The facts of a mesh. */
    Agreed agreed(DeviceMesh mesh) {
        Agreed facts = lastFacts;
        if (facts == null || mesh != lastMesh) {
            facts = Agreed.on(mesh);
            lastFacts = facts;
            lastMesh = mesh;
        }
        return facts;
    }

    /** Accepts the gradient that {@code from} computed for one of its operands. */
    void deliver(Node from, Node.Edge edge, EagerTensor gradient) {
        Arrivals source = from.arrivals();
        given(from, edge);
        EagerTensor conformed = GradientLayouts.conform(gradient, edge, from.name());
        Storage storage = conformed.array().storage();
        boolean shared = source.handedOn.contains(storage);
        source.handedOn.add(storage);
        Node next = edge.node();
        if (next == null) {
            EagerTensor leaf = java.util.Objects.requireNonNull(edge.leaf());
            leaf.accumulate(conformed, shared);
            EagerTensor sum = leaf.gradOrNull();
            if (sum != null) {
                arriving.add(sum.array());
                if (sum.array().storage() == storage) {
                    source.taken = source.taken == null ? new ArrayList<>(1) : source.taken;
                    source.taken.add(storage);
                }
            }
            return;
        }
        if (source.taken != null && source.taken.contains(storage)) { // the leaf may add to it before it is used
            NdArray copy = conformed.array().await().copy();
            conformed = EagerTensor.of(copy, conformed.shape(), conformed.layoutOrNull(), conformed.dtype());
        }
        if (from.runsAtOnce()) {
            arriving.add(conformed.array());
        }
        add(next.arrivals(), conformed);
        arrived(next);
    }

    /**
     * Runs an operation and delivers its result; to a leaf that has a gradient of the same layout and type it is added in
     * place, if the operation can.
     */
    void deliver(Node from, Node.Edge edge, Operation operation, Tensor... in) {
        EagerTensor sum = edge.leaf() == null ? null : edge.leaf().gradOrNull();
        if (sum != null && operation.canAccumulate() && Dispatch.addTo(sum, operation, in)) {
            given(from, edge);
        } else {
            deliver(from, edge, (EagerTensor) Dispatch.run(operation, in));
        }
    }

    private static void given(Node from, Node.Edge edge) {
        Arrivals source = from.arrivals();
        Node.@Nullable Edge[] edges = from.edges();
        for (int i = 0; i < edges.length; i++) {
            if (edges[i] == edge) {
                if (source.given.get(i)) {
                    throw new IllegalStateException("backward of " + from.name() + " gives operand " + i
                            + " two gradients; HINT: add them up and give the sum");
                }
                source.given.set(i);
            }
        }
    }

    private static void add(Arrivals at, EagerTensor gradient) {
        EagerTensor have = at.gradient;
        if (have == null) {
            at.gradient = gradient;
        } else if (at.owned && have.array().dtype() == gradient.array().dtype()) {
            have.backend().elementwise().addScaled(1, gradient.local(), have.local());
        } else {
            at.gradient = GradientLayouts.add(have, gradient);
            at.owned = true;
        }
    }

    private void arrived(Node node) {
        if (--node.arrivals().due > 0) {
            return;
        }
        if (node.runsAtOnce()) {
            String path = context.modulePath();
            execute(node);
            context.setModulePath(path);
        } else {
            ready.add(node);
        }
    }
}
