package org.tp4j.cudasim;

import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Runs a test class or method on simulated CUDA devices. A parameter of type {@link org.tp4j.cuda.CudaBackend} is device 0.
 *
 * <pre>{@code
 * @SimulatedCuda
 * class MyLayerTest {
 *     @Test
 *     void shouldTrainOnAGpu(CudaBackend backend) {
 *         Linear layer = new Linear(8, 4, true);
 *         layer.materialize(backend, DType.FLOAT32, 42);
 *         ...
 *     }
 *
 *     @Test
 *     void shouldTrainOnTwo() {
 *         Launch.run(
 *                 LaunchOptions.defaults().withLauncher("threads").withRanks(2).withDeviceType("cuda"), world -> { ... });
 *     }
 * }
 * }</pre>
 *
 * <p>Where the simulator cannot be built (no g++, not Linux on x86_64), tests are skipped with the reason, or fail if {@link
 * #required()}. A process that has opened NVIDIA's libraries keeps them: such a test fails and says so.
 */
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@ExtendWith(SimulatedCudaExtension.class)
public @interface SimulatedCuda {
    /** Whether tests fail, rather than being skipped, where the simulator cannot be built. */
    boolean required() default false;
}
