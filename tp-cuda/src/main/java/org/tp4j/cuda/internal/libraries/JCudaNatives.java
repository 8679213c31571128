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
 * Makes JCuda load its own natives from a folder private to this process.
 *
 * <p>JCuda writes them under a fixed name into {@code java.io.tmpdir} if they are missing: processes that start together
 * load each other's half-written files, and a truncated file crashes every later process.
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

    /** Runs code that loads JCuda's natives. */
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

    /** A loaded library stays loaded. */
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
