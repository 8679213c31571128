package org.tp4j.nccl;

import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A program of the test class path in a JVM of its own: a library is opened once a process. */
final class Fork {
    private static final long LIMIT_SECONDS = 60;

    private Fork() {}

    /** Runs it and returns what it has printed; fails unless it ends well. */
    static String run(Class<?> main, String... jvmOptions) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>();
        command.add(System.getProperty("java.home") + File.separator + "bin" + File.separator + "java");
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), "-XX:+UseSerialGC"));
        command.addAll(List.of(jvmOptions));
        command.add(main.getName());
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        try {
            String output = new String(process.getInputStream().readAllBytes());
            if (!process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS) || process.exitValue() != 0) {
                throw new AssertionError("the program has failed: " + output);
            }
            return output;
        } finally {
            process.destroyForcibly();
        }
    }
}
