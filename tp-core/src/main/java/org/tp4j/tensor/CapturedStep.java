package org.tp4j.tensor;

/**
 * A training step that is run many times. A backend that can launches all of it at once from the third run on,
 * which costs the host next to nothing; others simply run it. Either way a run is one step, with the same results.
 *
 * <pre>{@code
 * Tensor x = ...;                                    // filled with each batch in place
 * try (CapturedStep step = world.backend().capture(() -> {
 *     try (Scope scope = Scope.open("step")) {
 *         optimizer.clearGradients();
 *         Tensor loss = model.apply(x).crossEntropy(labels);
 *         loss.backward();
 *         optimizer.step();
 *         lossValue.local().assign(loss.local());
 *     }
 * })) {
 *     for (Batch batch : batches) {
 *         batch.copyInto(x, labels);
 *         model.beginStep(n++);
 *         step.run();
 *     }
 * }
 * }</pre>
 *
 * <p>The step always reads and writes the same memory: new inputs are written into the tensors it uses. It reads no value
 * on the host and waits for nothing; what it computes there besides launching kernels is a {@link StepNumber}, or done by
 * {@link StepRecording#everyStep}. Dropout, optimizers and learning rates do so.
 */
public interface CapturedStep extends AutoCloseable {
    /** Runs the step once. */
    void run();

    /** Frees what was captured and its memory: tensors that the step made can no longer be used. */
    @Override
    void close();
}
