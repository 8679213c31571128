package org.tp4j.tests.nccl;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Assumptions;
import org.tp4j.comm.CommunicationOptions;
import org.tp4j.cuda.CudaLibraries;

/** The simulated NCCL that these tests run on. */
final class Simulator {
    private Simulator() {}

    /** Skips the calling test where the simulator was not built. */
    static void assumeBuilt() {
        Assumptions.assumeTrue(
                Files.exists(Path.of(folder(), "libnccl.so.2")),
                "no simulated NCCL: it is built where there is g++ on Linux x86-64");
    }

    static String folder() {
        return System.getProperty(CudaLibraries.SIMULATOR, "none");
    }

    /** Settings under which a hang fails a test soon. */
    static CommunicationOptions options() {
        return CommunicationOptions.fromSystem().withTimeoutMs(20_000).withEngine("nccl");
    }
}
