package org.tp4j.autograd.internal;

import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.tp4j.layout.Layout;
import org.tp4j.tensor.ExecutionContext;

/** A step of the tape: what computed a tensor, and where gradients go on from there. */
abstract class Node {
    private static final AtomicLong SEQUENCE = new AtomicLong();

    /**
     * Where the gradient of one operand goes: to the step that computed it, or to a leaf.
     *
     * @param node the step, or null for a leaf
     * @param leaf the leaf, or null for a step
     * @param layout how the gradient must be laid out, or null on no mesh
     */
    record Edge(
            @Nullable Node node,
            @Nullable EagerTensor leaf,
            @Nullable Layout layout) {
        /** The way back to {@code tensor}, used as it is laid out. */
        static Edge to(EagerTensor tensor) {
            return to(tensor, tensor.layoutOrNull());
        }

        /** The way back to {@code tensor}, used as if it were laid out so. */
        static Edge to(EagerTensor tensor, @Nullable Layout usedAs) {
            Layout gradient = usedAs == null ? null : usedAs.dual();
            Node from = tensor.node();
            return from == null ? new Edge(null, tensor, gradient) : new Edge(from, null, gradient);
        }
    }

    private final long sequence = SEQUENCE.getAndIncrement();
    private final String modulePath = ExecutionContext.current().modulePath();
    private final @Nullable Edge[] edges;
    private boolean spent;
    private BackwardPass.@Nullable Arrivals arrivals;

    /** @param edges by operand, null where no gradient is wanted */
    Node(@Nullable Edge[] edges) {
        this.edges = edges;
    }

    /** Later steps have higher numbers. */
    final long sequence() {
        return sequence;
    }

    final String modulePath() {
        return modulePath;
    }

    final @Nullable Edge[] edges() {
        return edges;
    }

    /** What a running backward pass knows of this step. */
    final BackwardPass.Arrivals arrivals() {
        return java.util.Objects.requireNonNull(arrivals);
    }

    final boolean isExpected() {
        return arrivals != null;
    }

    final void expect(BackwardPass.Arrivals fresh) {
        arrivals = fresh;
    }

    final void forget() {
        arrivals = null;
    }

    /** Whether a backward pass has been through, so that what was kept is gone. */
    final boolean isSpent() {
        return spent;
    }

    /** Lets go of what was kept, so that no other pass can run through. */
    final void spend() {
        spent = true;
    }

    /** Called once the backward pass has been through; a step that keeps anything lets go of it and {@link #spend}s. */
    void finished() {}

    /** Name for messages. */
    abstract String name();

    /** Whether running it as soon as its gradient is complete lets its communication overlap with what follows. */
    boolean runsAtOnce() {
        return false;
    }

    /** Computes operands' gradients from the result's and hands them to the pass. */
    abstract void backward(BackwardPass pass, EagerTensor gradient);
}
