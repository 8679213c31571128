package org.tp4j.mpi;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.tp4j.comm.ReduceOp;
import org.tp4j.comm.launch.Launch;
import org.tp4j.comm.launch.LaunchOptions;
import org.tp4j.cpu.internal.memory.HostStorage;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.NativeLibraryException;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Shape;
import org.tp4j.threads.ThreadRanks;

/** A machine without an MPI library: one clear message, each time, and everything else works. */
@Timeout(60)
class MissingLibraryTest {
    @TempDir
    Path empty;

    /** Asks for MPI three times, in a JVM that is told of a library that is not there. */
    public static final class Asking {
        private Asking() {}

        /** Runs. */
        public static void main(String[] args) {
            System.out.println("available: " + Launch.availability());
            for (int i = 0; i < 3; i++) {
                try {
                    Launch.run(LaunchOptions.defaults().withLauncher("mpi"), world -> {});
                    System.out.println("started");
                } catch (NativeLibraryException e) {
                    System.out.println("message: " + e.getMessage());
                }
            }
            List<Float> sums = ThreadRanks.call(2, world -> {
                NdArray array = NdArray.full(world.backend(), DType.FLOAT32, Shape.of(1), world.rank() + 1.0);
                world.group().allReduce(array, array, ReduceOp.SUM).await();
                return ((HostStorage) array.storage()).floats()[0];
            });
            System.out.println("sums: " + sums);
        }
    }

    @Test
    void shouldSayTheSameEachTimeAndLeaveTheRestAlone() throws IOException, InterruptedException {
        String missing = empty.resolve("libmpi.so").toString();
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        "-Dtp4j.mpi.library=" + missing,
                        Asking.class.getName())
                .redirectErrorStream(true)
                .start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(50, TimeUnit.SECONDS)).isTrue();
        List<String> messages =
                output.lines().filter(line -> line.startsWith("message: ")).toList();
        assertThat(messages).as(output).hasSize(3);
        assertThat(messages.stream().distinct()).hasSize(1);
        if (new MpiLauncher()
                .unavailable()
                .filter(why -> why.contains("tp4j_mpi"))
                .isEmpty()) {
            assertThat(messages.get(0))
                    .contains("MPI (libmpi) cannot be used; looked at: ")
                    .contains(missing)
                    .contains("apt-get install openmpi-bin")
                    .contains("-Dtp4j.mpi.library=");
        }
        assertThat(output).contains("available: {threads=, mpi=").contains("sums: [3.0, 3.0]");
    }

    @Test
    void shouldLookWhereTheEnvironmentPoints() throws IOException {
        assertThat(MpiLibrary.candidates(Map.of("TP4J_MPI_LIBRARY", "/opt/x/libmpi.so")))
                .containsExactly("/opt/x/libmpi.so");
        java.nio.file.Files.createDirectories(empty.resolve("lib"));
        Path library = java.nio.file.Files.createFile(empty.resolve("lib/libmpi.so.12"));
        assertThat(MpiLibrary.candidates(Map.of("MPI_HOME", empty.toString())))
                .first()
                .isEqualTo(library.toString());
        assertThat(MpiLibrary.candidates(Map.of("PMI_RANK", "0"))).first().isEqualTo("libmpi.so.12");
        assertThat(MpiLibrary.candidates(Map.of("PMI_RANK", "0", "OMPI_COMM_WORLD_RANK", "0")))
                .first()
                .isEqualTo("libmpi.so.40");
    }
}
