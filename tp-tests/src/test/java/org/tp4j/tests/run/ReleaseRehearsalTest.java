package org.tp4j.tests.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The release rehearsal on a machine that lacks what it needs; the rehearsal itself is too slow for a test. */
class ReleaseRehearsalTest {
    private static final Path ROOT = Path.of(System.getProperty("tp.root"));
    private static final List<String> TOOLS = List.of("bash", "basename", "dirname", "head", "readlink", "sed", "true");

    @TempDir
    Path folder;

    @Test
    void shouldFailWithoutGpgAndSayWhatToInstall() throws Exception {
        Path bin = Files.createDirectory(folder.resolve("bin"));
        for (String tool : TOOLS) {
            Path usual = Path.of("/usr/bin", tool);
            Files.createSymbolicLink(bin.resolve(tool), Files.exists(usual) ? usual : Path.of("/bin", tool));
        }
        Files.createSymbolicLink(bin.resolve("mvn"), bin.resolve("true"));
        Path log = folder.resolve("log");
        ProcessBuilder builder = new ProcessBuilder(
                        bin.resolve("bash").toString(),
                        ROOT.resolve("scripts/release-dry-run.sh").toString())
                .redirectErrorStream(true)
                .redirectOutput(log.toFile());
        builder.environment().put("PATH", bin.toString());
        builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
        Process process = builder.start();
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(Files.readString(log))
                .contains("nothing was rehearsed: a release is signed, and there is no gpg on the PATH")
                .contains("HINT: install GnuPG");
        assertThat(process.exitValue()).isNotZero();
    }
}
