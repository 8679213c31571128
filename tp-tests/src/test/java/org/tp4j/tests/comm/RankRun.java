package org.tp4j.tests.comm;

import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;
import org.tp4j.cuda.CudaLibraries;

/** Runs a program of the test class path as ranks, in one of the ways there are, and ends all of its processes. */
final class RankRun {
    /** A launcher and an engine. */
    enum Way {
        /** Threads of one process, through its memory. */
        THREADS("threads", "threads"),
        /** Processes under mpirun, over MPI. */
        MPI("mpi", "MPI"),
        /** Processes that find each other by environment variables, over the simulated NCCL. */
        ENV_NCCL("env", "NCCL"),
        /** Threads of one process with a simulated GPU each, over the simulated NCCL. */
        THREADS_NCCL("threads", "NCCL");

        final String launcher;
        final String engine;

        Way(String launcher, String engine) {
            this.launcher = launcher;
            this.engine = engine;
        }

        /** Whether ranks are processes, which can be stopped and killed one by one. */
        boolean isProcesses() {
            return this == MPI || this == ENV_NCCL;
        }

        private boolean isNccl() {
            return this == ENV_NCCL || this == THREADS_NCCL;
        }
    }

    private final Way way;
    private final int ranks;
    private final List<String> jvmOptions = new ArrayList<>();
    private final List<String> arguments = new ArrayList<>();
    private final Class<?> main;
    private int left = -1;
    private long limitSeconds = 150;

    /**
     * How it ended.
     *
     * @param exitCodes of each process; -1 where it was ended
     * @param output what all ranks have printed
     */
    record Result(List<Integer> exitCodes, String output) {}

    RankRun(Way way, int ranks, Class<?> main) {
        this.way = way;
        this.ranks = ranks;
        this.main = main;
    }

    /** Skips the calling test where this way is not available. */
    static void assume(Way way) {
        if (way == Way.MPI) {
            MpiRun.assumeAvailable();
        }
        if (way.isNccl()) {
            Assumptions.assumeTrue(
                    Files.isDirectory(Path.of(System.getProperty(CudaLibraries.SIMULATOR, "none"))),
                    "the simulator has not been built: install g++");
        }
    }

    RankRun jvm(String... options) {
        jvmOptions.addAll(List.of(options));
        return this;
    }

    RankRun args(String... values) {
        arguments.addAll(List.of(values));
        return this;
    }

    /** A rank that is ended as soon as the others have. */
    RankRun notWaitingFor(int rank) {
        left = rank;
        return this;
    }

    /** How long it may take; what runs longer is ended. */
    RankRun limitSeconds(long seconds) {
        limitSeconds = seconds;
        return this;
    }

    Result run() throws IOException, InterruptedException {
        if (way == Way.MPI) {
            MpiRun.Result result = new MpiRun(ranks, main)
                    .jvm(jvmOptions.toArray(String[]::new))
                    .args(arguments.toArray(String[]::new))
                    .limitSeconds(limitSeconds)
                    .run();
            // Each line with its rank, which the other ways' lines have not.
            return new Result(List.of(result.exitCode()), result.output().replaceAll("(?m)^\\[1,[0-9]+]<std...>:", ""));
        }
        int processes = way.isProcesses() ? ranks : 1;
        int port = freePort();
        List<Process> running = new ArrayList<>();
        List<Path> logs = new ArrayList<>();
        try {
            for (int rank = 0; rank < processes; rank++) {
                Path log = Files.createTempFile("tp4j-rank", ".log");
                logs.add(log);
                running.add(start(rank, port, log));
            }
            return await(running, logs);
        } finally {
            for (Process process : running) {
                process.descendants().forEach(ProcessHandle::destroyForcibly);
                process.destroyForcibly();
            }
            for (Path log : logs) {
                Files.delete(log);
            }
        }
    }

    private Process start(int rank, int port, Path log) throws IOException {
        List<String> command = new ArrayList<>();
        command.add(System.getProperty("java.home") + File.separator + "bin" + File.separator + "java");
        command.addAll(List.of("-cp", System.getProperty("java.class.path")));
        command.addAll(List.of("--add-modules", "jdk.incubator.vector", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
        if (way.isNccl()) {
            command.add("-D" + CudaLibraries.SIMULATOR + "=" + System.getProperty(CudaLibraries.SIMULATOR));
            command.add("-Dtp.test.device=cuda");
        }
        if (!way.isProcesses()) {
            command.add("-Dtp.test.threads=" + ranks);
        }
        command.addAll(jvmOptions);
        command.add(main.getName());
        command.addAll(arguments);
        ProcessBuilder builder =
                new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile());
        Map<String, String> variables = builder.environment();
        variables.keySet().removeIf(name -> name.startsWith("OMPI_") || name.startsWith("PMI"));
        if (way.isProcesses()) {
            variables.put("RANK", String.valueOf(rank));
            variables.put("WORLD_SIZE", String.valueOf(ranks));
            variables.put("LOCAL_RANK", String.valueOf(rank));
            variables.put("MASTER_ADDR", "127.0.0.1");
            variables.put("MASTER_PORT", String.valueOf(port));
        }
        return builder.start();
    }

    private Result await(List<Process> running, List<Path> logs) throws IOException, InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(limitSeconds);
        List<Integer> exitCodes = new ArrayList<>();
        StringBuilder output = new StringBuilder();
        for (int rank = 0; rank < running.size(); rank++) {
            if (rank == left && running.size() > 1) {
                exitCodes.add(-1);
                continue;
            }
            boolean ended = running.get(rank).waitFor(deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
            exitCodes.add(ended ? running.get(rank).exitValue() : -1);
        }
        for (Path log : logs) {
            output.append(Files.readString(log));
        }
        return new Result(exitCodes, output.toString());
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }
}
