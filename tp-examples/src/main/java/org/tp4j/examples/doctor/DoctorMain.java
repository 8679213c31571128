package org.tp4j.examples.doctor;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import org.tp4j.examples.cli.CommandRunner;
import org.tp4j.examples.cli.VersionProvider;
import org.tp4j.examples.doctor.Finding.Status;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/**
 * The command {@code scripts/doctor.sh}: reports which parts of TP4J work on this machine, which do not, and what to install.
 * It does not use the network.
 */
@Command(
        name = "doctor.sh",
        mixinStandardHelpOptions = true,
        versionProvider = VersionProvider.class,
        usageHelpAutoWidth = true,
        description = {
            "Reports which parts of TP4J work on this machine, which do not, and what to install.",
            "Paste the output into a bug report. It does not use the network."
        },
        footer = {"", "Exit code: 0 if the CPU backend works, 1 if not."})
public final class DoctorMain implements Callable<Integer> {
    private static final int NAME_WIDTH = 18;

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec spec;

    /** For picocli. */
    DoctorMain() {}

    /** Runs the command. */
    public static void main(String[] arguments) {
        System.exit(run(arguments));
    }

    /** Runs the command and returns its exit code. */
    static int run(String... arguments) {
        return CommandRunner.run(new DoctorMain(), true, arguments);
    }

    @Override
    public Integer call() {
        PrintWriter out = spec.commandLine().getOut();
        SharedLibraries libraries = new SharedLibraries();
        Map<String, List<Finding>> sections = new LinkedHashMap<>();
        sections.put("Machine", HostChecks.run());
        sections.put("Java", JavaChecks.run());
        List<Finding> cpu = CpuChecks.run();
        sections.put("CPU", cpu);
        List<Finding> mpi = MpiChecks.run(libraries);
        sections.put("MPI", mpi);
        List<Finding> cuda = CudaChecks.run(libraries);
        sections.put("GPU", cuda);

        sections.forEach((title, findings) -> {
            out.println(title);
            findings.forEach(finding -> out.println(line(finding.status().mark(), finding.name(), finding.detail())));
            out.println();
        });
        boolean cpuWorks = cpu.stream().noneMatch(finding -> finding.status() == Status.BROKEN);
        out.println("Works here");
        out.println(verdict(cpuWorks, "ranks as threads, on the CPU", "scripts/run-mlp.sh"));
        out.println(verdict(
                cpuWorks && isOk(mpi, "launcher mpi") && isOk(mpi, "mpirun"),
                "ranks as processes over MPI",
                "mpirun -np 2 scripts/run-mlp.sh"));
        out.println(verdict(isOk(cuda, "device cuda"), "ranks on GPUs", "scripts/run-mlp.sh --device cuda"));
        printHints(out, sections);
        out.flush();
        return cpuWorks ? CommandRunner.OK : CommandRunner.FAILED;
    }

    private static String line(String mark, String name, String detail) {
        return String.format("  %-5s %-" + NAME_WIDTH + "s %s", mark, name, detail);
    }

    private static String verdict(boolean works, String what, String command) {
        return String.format("  %-5s %-30s%s", works ? "yes" : "no", what, works ? command : "")
                .stripTrailing();
    }

    private static boolean isOk(List<Finding> findings, String name) {
        return findings.stream().anyMatch(f -> f.name().equals(name) && f.status() == Status.OK);
    }

    private static void printHints(PrintWriter out, Map<String, List<Finding>> sections) {
        Set<String> hints = new LinkedHashSet<>();
        List<Finding> all = new ArrayList<>();
        sections.values().forEach(all::addAll);
        for (Finding finding : all) {
            if (finding.status() != Status.OK && !finding.hint().isEmpty()) {
                hints.add(finding.name() + ": " + finding.hint());
            }
        }
        if (!hints.isEmpty()) {
            out.println();
            out.println("To fix or improve");
            hints.forEach(hint -> out.println("  " + hint));
        }
    }
}
