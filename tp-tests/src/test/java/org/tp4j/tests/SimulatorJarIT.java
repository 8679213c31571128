package org.tp4j.tests;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import java.util.zip.ZipFile;
import org.junit.jupiter.api.Test;

/** The simulator is for tests: no jar holds a library of it, and tp-cudasim alone its sources. */
class SimulatorJarIT {
    private static final Pattern SIMULATOR = Pattern.compile(
            "(^|/)(cudasim|cusim[^/]*|lib(cuda|cublas|nvrtc|nccl)\\.so[^/]*)(/|$)", Pattern.CASE_INSENSITIVE);

    @Test
    void noJarHoldsTheSimulator() throws IOException {
        Path root = Path.of(System.getProperty("tp.root"));
        String version = System.getProperty("tp.version");
        List<String> found = new ArrayList<>();
        List<String> jars = new ArrayList<>();
        for (String module : List.of("tp-core", "tp-cpu", "tp-cuda", "tp-nccl", "tp-examples", "tp-tests")) {
            Path jar = root.resolve(module).resolve("target").resolve(module + "-" + version + ".jar");
            if (!Files.exists(jar)) {
                continue;
            }
            jars.add(module);
            try (ZipFile zip = new ZipFile(jar.toFile());
                    Stream<String> names = zip.stream().map(entry -> entry.getName())) {
                names.filter(name -> SIMULATOR.matcher(name).find()).forEach(name -> found.add(module + ": " + name));
            }
        }
        assertThat(jars).contains("tp-core", "tp-cuda", "tp-nccl");
        assertThat(found).isEmpty();
    }
}
