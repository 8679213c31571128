package org.tp4j.comm.launch;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.tp4j.comm.CommunicationException;
import org.tp4j.comm.internal.control.ControlSecret;

/**
 * Address and secret of the control channel of a job that was started without MPI, from environment variables.
 *
 * @param host rank 0's machine: {@code MASTER_ADDR}, or under Slurm the first node
 * @param port {@code MASTER_PORT}, or under Slurm a port derived from the job's number. If torchrun's agent itself listens
 *     on that port, the next one
 * @param secret {@code TP4J_SECRET}, or what is in the file {@code TP4J_SECRET_FILE}, of mode 0600. If neither is set and the
 *     host is this machine's loopback address, it is derived from variables that all ranks have in common: that keeps apart
 *     jobs that meet by mistake, but not people who can log in there. Off the loopback address one of the two must be set
 */
record EnvironmentAddress(String host, int port, ControlSecret secret) {
    static final String SECRET = "TP4J_SECRET";
    static final String SECRET_FILE = "TP4J_SECRET_FILE";

    private static final int FIRST_PORT = 20_000;
    private static final int PORTS = 20_000;

    static EnvironmentAddress read(Map<String, String> environment) {
        String host = environment.getOrDefault("MASTER_ADDR", "");
        String nodes =
                environment.getOrDefault("SLURM_STEP_NODELIST", environment.getOrDefault("SLURM_JOB_NODELIST", ""));
        if (host.isEmpty()) {
            host = firstNode(nodes);
        }
        if (host.isEmpty()) {
            throw new CommunicationException(
                    "the ranks were started without MPI, and MASTER_ADDR is not set; HINT: set MASTER_ADDR and"
                            + " MASTER_PORT to rank 0's machine and a free port there, the same for all ranks");
        }
        int port = port(environment);
        return new EnvironmentAddress(host, port, secret(environment, host, port));
    }

    private static int port(Map<String, String> environment) {
        String set = environment.getOrDefault("MASTER_PORT", "");
        if (!set.isEmpty()) {
            if (!set.matches("[0-9]{1,5}") || Integer.parseInt(set) > 65_535) {
                throw new CommunicationException("MASTER_PORT is '" + set + "'; HINT: a number from 1 to 65535");
            }
            boolean agentListens = "True".equalsIgnoreCase(environment.get("TORCHELASTIC_USE_AGENT_STORE"));
            return Integer.parseInt(set) + (agentListens ? 1 : 0);
        }
        String job = environment.getOrDefault("SLURM_JOB_ID", "");
        if (!job.matches("[0-9]{1,18}")) {
            throw new CommunicationException(
                    "the ranks were started without MPI, and MASTER_PORT does not say where rank 0"
                            + " listens; HINT: set it to a port that is free on rank 0's machine, the same for all ranks");
        }
        String step = environment.getOrDefault("SLURM_STEP_ID", "0");
        long number = Long.parseLong(job) * 17 + (step.matches("[0-9]{1,9}") ? Long.parseLong(step) : 0);
        return FIRST_PORT + (int) (number % PORTS);
    }

    private static ControlSecret secret(Map<String, String> environment, String host, int port) {
        String set = environment.getOrDefault(SECRET, "");
        if (!set.isEmpty()) {
            return ControlSecret.of(set);
        }
        String file = environment.getOrDefault(SECRET_FILE, "");
        if (!file.isEmpty()) {
            return ControlSecret.ofFile(Path.of(file));
        }
        if (!isLoopback(host)) {
            throw new CommunicationException("the control channel at " + host + ":" + port
                    + " can be reached over the network, and the job has no secret that would protect it; HINT: set "
                    + SECRET
                    + " to the same random text for all ranks, such as that of 'openssl rand -hex 32', or "
                    + SECRET_FILE
                    + " to a file of mode 0600 that holds it");
        }
        StringBuilder text = new StringBuilder("tp4j " + host + " " + port + " " + System.getProperty("user.name"));
        for (String name : List.of("WORLD_SIZE", "SLURM_JOB_ID", "SLURM_STEP_ID", "TORCHELASTIC_RUN_ID")) {
            text.append(' ').append(environment.getOrDefault(name, ""));
        }
        return ControlSecret.of(text.toString());
    }

    private static boolean isLoopback(String host) {
        try {
            return InetAddress.getByName(host).isLoopbackAddress();
        } catch (UnknownHostException e) {
            return false;
        }
    }

    /** The first name in a list in Slurm's short form, such as {@code gpu03} of {@code gpu[03-05,9],login}. */
    static String firstNode(String list) {
        int bracket = list.indexOf('[');
        int comma = list.indexOf(',');
        if (bracket < 0 || (comma >= 0 && comma < bracket)) {
            return comma < 0 ? list : list.substring(0, comma);
        }
        int end = bracket + 1;
        while (end < list.length() && Character.isDigit(list.charAt(end))) {
            end++;
        }
        return list.substring(0, bracket) + list.substring(bracket + 1, end);
    }
}
