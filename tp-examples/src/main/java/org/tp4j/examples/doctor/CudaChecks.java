package org.tp4j.examples.doctor;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.tp4j.comm.engine.GroupEngines;
import org.tp4j.tensor.Backends;

/** GPUs, the driver, and the libraries that the CUDA backend loads at run time. */
final class CudaChecks {
    private CudaChecks() {}

    /** A library that the backend loads: its soname, and a newer one that can be used instead. */
    private record Needed(String soname, String newer, String hint) {}

    private static final List<Needed> LIBRARIES = List.of(
            new Needed("libcublas.so.12", "libcublas.so.13", "install the CUDA 12 toolkit, or cuda-libraries-12-6"),
            new Needed("libcublasLt.so.12", "libcublasLt.so.13", "comes with libcublas"),
            new Needed("libnvrtc.so.12", "libnvrtc.so.13", "install the CUDA 12 toolkit, or cuda-nvrtc-12-6"),
            new Needed("libnccl.so.2", "", "install NCCL (libnccl2) for ranks on several GPUs"));

    static List<Finding> run(SharedLibraries libraries) {
        List<Finding> findings = new ArrayList<>();
        boolean gpus = addGpus(findings);
        findings.add(driver(libraries, gpus));
        for (Needed needed : LIBRARIES) {
            findings.add(library(libraries, needed, gpus));
        }
        GroupEngines.availability()
                .forEach((engine, problem) -> findings.add(availability("engine " + engine, problem)));
        String problem = Backends.availability().get("cuda");
        findings.add(
                problem == null
                        ? Finding.absent("device cuda", "tp-cuda is not on the class path", "")
                        : availability("device cuda", problem));
        return findings;
    }

    /** The finding for a component that reports why it cannot be used, or an empty string if it can. */
    private static Finding availability(String component, String problem) {
        if (problem.isEmpty()) {
            return Finding.ok(component, "usable");
        }
        String[] parts = problem.replaceAll("\\s*\\n\\s*", " ").split("; HINT: ", 2);
        return Finding.absent(component, parts[0], parts.length < 2 ? "" : parts[1]);
    }

    private static boolean addGpus(List<Finding> findings) {
        List<String> gpus = ExternalPrograms.output(
                        "nvidia-smi", "--query-gpu=index,name,memory.total,compute_cap", "--format=csv,noheader")
                .map(text -> text.lines().toList())
                .orElse(List.of());
        if (gpus.isEmpty()) {
            gpus = SharedLibraries.expand("/proc/driver/nvidia/gpus/*").stream()
                    .flatMap(folder -> ExternalPrograms.lines(folder + "/information").stream())
                    .filter(line -> line.startsWith("Model:"))
                    .map(line -> line.substring("Model:".length()).strip())
                    .toList();
        }
        if (gpus.isEmpty()) {
            findings.add(Finding.absent("GPUs", "none (no nvidia-smi, nothing in /proc/driver/nvidia)", ""));
        }
        gpus.forEach(gpu -> findings.add(Finding.ok("GPU", gpu)));
        if (gpus.size() > 1) {
            ExternalPrograms.output("nvidia-smi", "topo", "-m")
                    .ifPresent(text -> text.lines()
                            .map(line -> line.replaceAll("\u001b\\[[0-9;]*m", ""))
                            .filter(line -> line.matches("\\s*GPU\\d.*"))
                            .forEach(line -> findings.add(
                                    Finding.ok("links", line.strip().replace('\t', ' ')))));
        }
        return !gpus.isEmpty();
    }

    private static Finding driver(SharedLibraries libraries, boolean gpus) {
        Optional<String> kernel = ExternalPrograms.lines("/proc/driver/nvidia/version").stream()
                .filter(line -> line.startsWith("NVRM"))
                .findFirst()
                .map(line -> line.replaceAll("\\s+", " "));
        Optional<SharedLibraries.Found> library = libraries.find("libcuda.so.1");
        if (library.isPresent()) {
            return Finding.ok("driver", kernel.map(text -> text + "; ").orElse("") + "libcuda.so.1 " + library.get());
        }
        return Finding.absent(
                "driver",
                "no libcuda.so.1"
                        + kernel.map(text -> ", although the kernel module is loaded: " + text)
                                .orElse(""),
                gpus || kernel.isPresent()
                        ? "install the NVIDIA driver's user-space libraries; in a container: docker run --gpus all"
                        : "");
    }

    private static Finding library(SharedLibraries libraries, Needed needed, boolean gpus) {
        Optional<SharedLibraries.Found> found = libraries.find(needed.soname);
        if (found.isPresent()) {
            return Finding.ok(needed.soname, found.get().toString());
        }
        Optional<SharedLibraries.Found> newer =
                needed.newer.isEmpty() ? Optional.empty() : libraries.find(needed.newer);
        return newer.map(other -> Finding.note(
                        needed.soname, "not found, but " + needed.newer + " is: " + other, gpus ? needed.hint : ""))
                .orElseGet(() -> Finding.absent(needed.soname, "not found", gpus ? needed.hint : ""));
    }
}
