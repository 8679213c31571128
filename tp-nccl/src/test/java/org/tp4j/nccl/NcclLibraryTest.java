package org.tp4j.nccl;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What is said where NCCL is missing, is something else, or lacks functions. */
@Timeout(120)
class NcclLibraryTest {
    private static final String OLD_NCCL = """
            int ncclGetVersion(int *version) { *version = 2602; return 0; }
            int ncclCommInitRank(void **comm, int ranks, ...) { *comm = (void *)version_cell; return 0; }
            """.replace("version_cell", "0x10");

    @TempDir
    Path folder;

    /** Says why NCCL cannot be used. */
    public static final class UnavailableMain {
        private UnavailableMain() {}

        /** Runs. */
        public static void main(String[] args) {
            System.out.println(Nccl.unavailable().orElse("usable"));
            try {
                JNccl.ncclGetUniqueId();
            } catch (org.tp4j.tensor.NativeLibraryException e) {
                System.out.println("again: " + e.getMessage());
            }
        }
    }

    /** Calls what an old library has and what it has not. */
    public static final class OldMain {
        private OldMain() {}

        /** Runs. */
        public static void main(String[] args) {
            System.out.println(JNccl.ncclGetVersion() + " " + JNccl.has("ncclCommSplit") + " " + Nccl.description());
            NcclUniqueId id = NcclUniqueId.of(new byte[NcclUniqueId.NCCL_UNIQUE_ID_BYTES]);
            NcclComm comm = JNccl.ncclCommInitRank(1, id, 0);
            try {
                JNccl.ncclCommSplit(comm, 0, 0, null);
            } catch (UnsupportedOperationException e) {
                System.out.println(e.getMessage());
            }
            try {
                JNccl.ncclCommInitRankConfig(1, id, 0, NcclConfig.initializer());
            } catch (UnsupportedOperationException e) {
                System.out.println(e.getMessage());
            }
        }
    }

    @Test
    void shouldRefuseANamedFileThatIsNotThere() throws Exception {
        String output = Fork.run(UnavailableMain.class, "-Dtp4j.nccl.library=" + folder + "/libnccl.so.2");
        assertThat(output.lines())
                .hasSize(2)
                .allSatisfy(line -> assertThat(line)
                        .contains("NCCL (libnccl.so.2) cannot be used; looked at: " + folder + "/libnccl.so.2")
                        .contains("HINT: install it")
                        .contains("-Dtp4j.nccl.library=/path/to/libnccl.so.2"));
    }

    @Test
    void shouldRefuseALibraryThatIsNotNccl() throws Exception {
        Path library = compile("int nothing(void) { return 0; }");
        assertThat(Fork.run(UnavailableMain.class, "-Dtp4j.nccl.library=" + library))
                .contains("it has no functions ncclGetVersion and ncclCommInitRank, so it is not NCCL");
    }

    @Test
    void shouldNameTheVersionThatBroughtAFunctionWhichTheLibraryLacks() throws Exception {
        Path library = compile(OLD_NCCL);
        String output = Fork.run(OldMain.class, "-Dtp4j.nccl.library=" + library);
        assertThat(output)
                .contains("2602 false NCCL 2.6.2 (" + library + ")")
                .contains("ncclCommSplit is not in NCCL 2.6.2 (" + library + "); HINT: install NCCL 2.18 or later")
                .contains("ncclCommInitRankConfig is not in NCCL 2.6.2");
    }

    private Path compile(String source) throws IOException, InterruptedException {
        Path file = Files.writeString(folder.resolve("library.c"), source);
        Path library = folder.resolve("libnccl.so.2");
        try {
            Process gcc = new ProcessBuilder("gcc", "-shared", "-fPIC", "-o", library.toString(), file.toString())
                    .inheritIO()
                    .start();
            assertThat(gcc.waitFor(60, TimeUnit.SECONDS)).isTrue();
            assertThat(gcc.exitValue()).isZero();
        } catch (IOException e) {
            Assumptions.abort("no gcc here: " + e.getMessage());
        }
        return library;
    }
}
