package org.tp4j.cuda.internal.capture;

import java.util.function.Consumer;
import java.util.function.IntSupplier;
import org.tp4j.cuda.internal.driver.CudaDevice;
import org.tp4j.cuda.internal.driver.DeviceHealth;
import org.tp4j.cuda.internal.driver.DeviceStreams;
import org.tp4j.cuda.internal.memory.MemoryPool;
import org.tp4j.tensor.CapturedStep;

/**
 * What a captured step needs of its device.
 *
 * @param device where it runs
 * @param streams the streams it may use
 * @param pool where its memory comes from
 * @param health checked before each run
 * @param captures numbers the captures, from 1
 * @param launched called when a run has been enqueued
 * @param closed called when the step has been closed
 */
record StepSite(
        CudaDevice device,
        DeviceStreams streams,
        MemoryPool pool,
        DeviceHealth health,
        IntSupplier captures,
        Runnable launched,
        Consumer<CapturedStep> closed) {}
