package org.tp4j.tests.nccl;

import java.io.File;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.tp4j.cuda.CudaLibraries;

/** Ranks as processes on simulated GPUs, started without MPI: by the variables that torchrun sets. */
final class RankProcesses {
    private static final long LIMIT_SECONDS = 150;

    private final int ranks;
    private final Class<?> main;
    private final List<String> jvmOptions = new ArrayList<>();
    private final List<String> arguments = new ArrayList<>();
    private final Map<String, String> environment = new HashMap<>();
    private int left = -1;

    /**
     * How a rank ended.
     *
     * @param exitCode its exit code; -1 if it was ended, since it ran past the limit or nobody waits for it
     * @param output what it has printed
     * @param seconds how long it took
     */
    record Result(int exitCode, String output, double seconds) {}

    RankProcesses(int ranks, Class<?> main) {
        this.ranks = ranks;
        this.main = main;
    }

    RankProcesses jvm(String... options) {
        jvmOptions.addAll(List.of(options));
        return this;
    }

    RankProcesses args(String... values) {
        arguments.addAll(List.of(values));
        return this;
    }

    /** A variable of all ranks; {@code {rank}} in it is the rank's number. */
    RankProcesses variable(String name, String value) {
        environment.put(name, value);
        return this;
    }

    /** A rank that is ended as soon as the others have. */
    RankProcesses notWaitingFor(int rank) {
        left = rank;
        return this;
    }

    /** Runs them; how each ended. */
    List<Result> run() throws IOException, InterruptedException {
        int port = freePort();
        List<Process> processes = new ArrayList<>();
        List<Path> logs = new ArrayList<>();
        long start = System.nanoTime();
        try {
            for (int rank = 0; rank < ranks; rank++) {
                logs.add(Files.createTempFile("tp4j-rank" + rank + "-", ".log"));
                processes.add(start(rank, port, logs.get(rank)));
            }
            return await(processes, logs, start);
        } finally {
            processes.forEach(Process::destroyForcibly);
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
        command.add("-D" + CudaLibraries.SIMULATOR + "=" + Simulator.folder());
        command.add("-Dtp.test.device=cuda");
        command.addAll(jvmOptions);
        command.add(main.getName());
        command.addAll(arguments);
        ProcessBuilder builder =
                new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile());
        Map<String, String> variables = builder.environment();
        variables.keySet().removeIf(name -> name.startsWith("OMPI_") || name.startsWith("PMI"));
        variables.put("RANK", String.valueOf(rank));
        variables.put("WORLD_SIZE", String.valueOf(ranks));
        variables.put("LOCAL_RANK", String.valueOf(rank));
        variables.put("MASTER_ADDR", "127.0.0.1");
        variables.put("MASTER_PORT", String.valueOf(port));
        environment.forEach((name, value) -> variables.put(name, value.replace("{rank}", String.valueOf(rank))));
        return builder.start();
    }

    private List<Result> await(List<Process> processes, List<Path> logs, long start)
            throws IOException, InterruptedException {
        Double[] seconds = new Double[ranks];
        long deadline = start + TimeUnit.SECONDS.toNanos(LIMIT_SECONDS);
        int waitedFor = left < 0 ? ranks : ranks - 1;
        for (int ended = 0; ended < waitedFor && System.nanoTime() < deadline; ) {
            Thread.sleep(10);
            for (int rank = 0; rank < ranks; rank++) {
                if (rank != left
                        && seconds[rank] == null
                        && !processes.get(rank).isAlive()) {
                    seconds[rank] = (System.nanoTime() - start) * 1e-9;
                    ended++;
                }
            }
        }
        List<Result> results = new ArrayList<>();
        for (int rank = 0; rank < ranks; rank++) {
            Process process = processes.get(rank);
            double took = seconds[rank] == null ? (System.nanoTime() - start) * 1e-9 : seconds[rank];
            int code = process.isAlive() ? -1 : process.exitValue();
            results.add(new Result(code, Files.readString(logs.get(rank)), took));
        }
        return results;
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }
}
