package org.tp4j.cpu;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.tp4j.autograd.Tensors;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.Shape;

/** What a user without a logging provider reads when something that costs speed is missing. */
class SlowPathNoticeTest {
    private static final String NO_VECTORS = "TP4J: the Vector API is not available";
    private static final String NO_OPENBLAS = "TP4J: OpenBLAS is not available";

    /** The lines of ours on the error output of a program that computes on the CPU backend twice. */
    private static List<String> run(Predicate<String> jars, String... options) throws Exception {
        String classPath = Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
                .filter(jar -> !jar.contains("logback") && !jar.contains("slf4j-simple"))
                .filter(jars)
                .collect(Collectors.joining(File.pathSeparator));
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of(options));
        command.addAll(List.of("-cp", classPath, Program.class.getName()));
        Process process = new ProcessBuilder(command)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
        String error = new String(process.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).as(error).isZero();
        return error.lines().filter(line -> line.startsWith("TP4J: ")).toList();
    }

    @Test
    void shouldSayNothingWhereNothingIsMissing() throws Exception {
        assertThat(run(jar -> true, "--add-modules", "jdk.incubator.vector")).isEmpty();
    }

    @Test
    void shouldSayOnceThatTheVectorApiIsMissing() throws Exception {
        assertThat(run(jar -> true))
                .singleElement()
                .satisfies(line -> assertThat(line)
                        .startsWith(NO_VECTORS)
                        .contains("HINT: start Java with --add-modules jdk.incubator.vector"));
        assertThat(run(jar -> true, "-Dtp4j.cpu.vector=false")).isEmpty();
    }

    @Test
    void shouldSayOnceThatOpenBlasIsMissing() throws Exception {
        assertThat(run(jar -> !jar.matches(".*openblas.*-linux-.*|.*openblas.*-macosx-.*"), "-Dtp4j.cpu.vector=false"))
                .singleElement()
                .satisfies(line -> assertThat(line)
                        .startsWith(NO_OPENBLAS)
                        .contains("HINT: on Linux add org.bytedeco:openblas and javacpp with the classifier"));
    }

    /** Multiplies two matrices, twice. */
    static final class Program {
        private Program() {}

        public static void main(String[] arguments) {
            for (int i = 0; i < 2; i++) {
                var x = Tensors.ones(CpuBackend.get(), DType.FLOAT32, Shape.of(2, 2));
                x.matmul(x).gelu().toFloats();
            }
        }
    }
}
