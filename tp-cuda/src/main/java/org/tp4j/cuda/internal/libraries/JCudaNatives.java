package org.tp4j.cuda.internal.libraries;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import jcuda.driver.JCudaDriver;
import jcuda.jcublas.JCublas2;
import jcuda.nvrtc.JNvrtc;
import org.tp4j.tensor.TpException;

/**
 * Has JCuda load its own natives from a folder of this process's.
 *
 * <p>JCuda writes them under a fixed name into {@code java.io.tmpdir} unless they are there: processes that start together
 * load each other's half-written files, and a file cut short ends every later process.
 */
public final class JCudaNatives {
    private static final String TEMPORARY_FOLDER = "java.io.tmpdir";

    private JCudaNatives() {}

    public static void load() {
        inOwnFolder(() -> {
            // Each loads its native in its static initializer. Errors come as codes, which Cuda.check turns into
            // exceptions.
            JCudaDriver.setExceptionsEnabled(false);
            JNvrtc.setExceptionsEnabled(false);
            JCublas2.setExceptionsEnabled(false);
        });
    }

    /** Runs what loads natives of JCuda's. */
    public static void inOwnFolder(Runnable loading) {
        String before = System.getProperty(TEMPORARY_FOLDER);
        Path own;
        try {
            own = Files.createTempDirectory("tp4j-jcuda");
        } catch (IOException e) {
            throw new TpException(
                    "no folder for JCuda's natives can be made in " + before + ": " + e
                            + "; HINT: name one that can be written to with -Djava.io.tmpdir=/path",
                    e);
        }
        try {
            System.setProperty(TEMPORARY_FOLDER, own.toString());
            loading.run();
        } finally {
            System.setProperty(TEMPORARY_FOLDER, before);
            remove(own);
        }
    }

    /** What has been loaded stays loaded. */
    private static void remove(Path folder) {
        try (DirectoryStream<Path> files = Files.newDirectoryStream(folder)) {
            for (Path file : files) {
                Files.delete(file);
            }
            Files.delete(folder);
        } catch (IOException e) {
            folder.toFile().deleteOnExit();
        }
    }
}
