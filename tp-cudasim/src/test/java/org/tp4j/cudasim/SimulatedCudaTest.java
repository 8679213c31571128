package org.tp4j.cudasim;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.tp4j.autograd.Tensors;
import org.tp4j.cuda.CudaBackend;
import org.tp4j.cuda.CudaLibraries;
import org.tp4j.tensor.Tensor;

/** The extension as a user's test would use it. */
@SimulatedCuda
class SimulatedCudaTest {
    @Test
    void shouldComputeOnASimulatedDevice(CudaBackend backend) {
        Tensor x = Tensors.of(backend, new double[] {1, 2, 3, 4}, 2, 2).requiresGrad(true);
        x.square().sum().backward();
        assertThat(x.grad()).isNotNull();
        assertThat(x.grad().toDoubles()).containsExactly(2, 4, 6, 8);
    }

    @Test
    void shouldUseNoLibraryOfNvidias() {
        assertThat(CudaLibraries.load().paths())
                .isNotEmpty()
                .allSatisfy(path -> assertThat(Path.of(path)).startsWith(CudaSimulator.folder()));
    }

    /** A jar's folders cannot be walked, so the sources stand in an index. */
    @Test
    void shouldListEverySource() throws IOException {
        Path resources = Path.of("src/main/resources/org/tp4j/cudasim");
        List<String> index = Files.readAllLines(resources.resolve("sources.txt"));
        Path sources = resources.resolve("sources");
        try (Stream<Path> files = Files.walk(sources)) {
            List<String> found = files.filter(Files::isRegularFile)
                    .map(file -> sources.relativize(file).toString())
                    .sorted()
                    .toList();
            assertThat(index).isEqualTo(found);
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
    }
}
