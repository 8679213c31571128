package org.tp4j.examples.doctor;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** Operating system, processor, memory and their limits. */
final class HostChecks {
    private static final long SMALL_SHARED_MEMORY = 512L << 20; // containers get 64 MiB by default

    private HostChecks() {}

    static List<Finding> run() {
        List<Finding> findings = new ArrayList<>();
        findings.add(Finding.ok("system", system()));
        findings.add(Finding.ok("cores", Runtime.getRuntime().availableProcessors() + processor()));
        findings.add(Finding.ok("memory", memory()));
        findings.add(sharedMemory());
        findings.add(lockedMemory());
        return findings;
    }

    private static String system() {
        String name = System.getProperty("os.name") + " " + System.getProperty("os.version") + " "
                + System.getProperty("os.arch");
        return ExternalPrograms.lines("/etc/os-release").stream()
                .filter(line -> line.startsWith("PRETTY_NAME="))
                .findFirst()
                .map(line -> name + ", " + line.substring(line.indexOf('=') + 1).replace("\"", ""))
                .orElse(name);
    }

    private static String processor() {
        List<String> lines = ExternalPrograms.lines("/proc/cpuinfo");
        Optional<String> model = value(lines, "model name");
        String flags = value(lines, "flags").orElse("");
        String simd = flags.contains(" avx512f") ? ", AVX-512" : flags.contains(" avx2") ? ", AVX2" : "";
        return model.map(m -> ", " + m).orElse("") + simd;
    }

    private static Optional<String> value(List<String> lines, String key) {
        return lines.stream()
                .filter(line -> line.startsWith(key))
                .findFirst()
                .map(line -> line.substring(line.indexOf(':') + 1).strip());
    }

    private static String memory() {
        StringBuilder text = new StringBuilder();
        if (ManagementFactory.getOperatingSystemMXBean() instanceof com.sun.management.OperatingSystemMXBean system) {
            text.append(bytes(system.getTotalMemorySize())).append(", ");
            ExternalPrograms.lines("/proc/meminfo").stream()
                    .filter(line -> line.startsWith("MemAvailable:"))
                    .findFirst()
                    .ifPresent(line -> text.append(bytes(1024 * Long.parseLong(line.replaceAll("\\D", ""))))
                            .append(" available, "));
        }
        return text + "heap of this JVM up to " + bytes(Runtime.getRuntime().maxMemory());
    }

    private static Finding sharedMemory() {
        Path folder = Path.of("/dev/shm");
        if (!Files.isDirectory(folder)) {
            return Finding.ok("shared memory", "no /dev/shm on this system");
        }
        try {
            FileStore store = Files.getFileStore(folder);
            String size =
                    "/dev/shm has " + bytes(store.getTotalSpace()) + ", " + bytes(store.getUsableSpace()) + " free";
            return store.getUsableSpace() >= SMALL_SHARED_MEMORY
                    ? Finding.ok("shared memory", size)
                    : Finding.note(
                            "shared memory",
                            size + "; processes on the same machine exchange data through it",
                            "free or enlarge /dev/shm; in a container: docker run --shm-size=1g or --ipc=host");
        } catch (IOException e) {
            return Finding.note("shared memory", "/dev/shm cannot be read: " + e.getMessage(), "");
        }
    }

    private static Finding lockedMemory() {
        Optional<String> line = ExternalPrograms.lines("/proc/self/limits").stream()
                .filter(text -> text.startsWith("Max locked memory"))
                .findFirst();
        if (line.isEmpty()) {
            return Finding.ok("locked memory", "limit unknown on this system");
        }
        String soft = line.get().substring("Max locked memory".length()).strip().replaceAll("\\s.*", "");
        if (soft.equals("unlimited")) {
            return Finding.ok("locked memory", "unlimited (ulimit -l)");
        }
        long limit = Long.parseLong(soft);
        return limit >= 1L << 30
                ? Finding.ok("locked memory", bytes(limit) + " (ulimit -l)")
                : Finding.note(
                        "locked memory",
                        bytes(limit) + " (ulimit -l); enough for the CPU, too little for pinned buffers and InfiniBand",
                        "for GPUs on several nodes: ulimit -l unlimited, docker run --ulimit memlock=-1");
    }

    static String bytes(long n) {
        return n >= 10L << 30
                ? String.format(Locale.ROOT, "%d GiB", n >> 30)
                : n >= 1L << 30
                        ? String.format(Locale.ROOT, "%.1f GiB", n / (double) (1L << 30))
                        : String.format(Locale.ROOT, "%d MiB", n >> 20);
    }
}
