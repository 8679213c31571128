package org.tp4j.autograd.internal;

import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.tp4j.layout.Layout;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.ExecutionContext;

/** A step of the tape: what computed a tensor, and where its gradients go next. */
abstract class Node {
    private static final AtomicLong SEQUENCE = new AtomicLong();

    /**
     * Where the gradient of one operand goes: to the step that computed it, or to a leaf.
     *
     * @param node the step, or null for a leaf
     * @param leaf the leaf, or null for a step
     * @param layout the layout the gradient must have, or null on no mesh
     * @param dtype the type it must have: a 16-bit leaf collects its gradient in 32 bits
     */
    record Edge(
            @Nullable Node node,
            @Nullable EagerTensor leaf,
            @Nullable Layout layout,
            DType dtype) {
        /** The edge to {@code tensor}, used in its own layout. */
        static Edge to(EagerTensor tensor) {
            return to(tensor, tensor.layoutOrNull());
        }

        /** The edge to {@code tensor}, used as if in this layout. */
        static Edge to(EagerTensor tensor, @Nullable Layout usedAs) {
            Layout gradient = usedAs == null ? null : usedAs.dual();
            Node from = tensor.node();
            return from == null
                    ? new Edge(null, tensor, gradient, tensor.dtype().accumulator())
                    : new Edge(from, null, gradient, tensor.dtype());
        }
    }

    private final long sequence = SEQUENCE.getAndIncrement();
    private final String modulePath = ExecutionContext.current().modulePath();
    private final @Nullable Edge[] edges;
    private boolean spent;
    private BackwardPass.@Nullable Arrivals arrivals;

    /** @param edges by operand, null where no gradient is needed */
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

    /** State of this step in the running backward pass. */
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

    /** Whether a backward pass has used this step, so that what it kept is freed. */
    final boolean isSpent() {
        return spent;
    }

    /** Marks it as used: no other pass can run through it. */
    final void spend() {
        spent = true;
    }

    /**
     * Called when the backward pass is done with this step; a step that keeps anything frees it and calls {@link #spend}.
     */
    void finished() {}

    /** Name for messages. */
    abstract String name();

    /** Whether running it as soon as its gradient is complete lets its communication overlap with what follows. */
    boolean runsAtOnce() {
        return false;
    }

    /** Computes the operands' gradients from the result's and delivers them to the pass. */
    abstract void backward(BackwardPass pass, EagerTensor gradient);
}
