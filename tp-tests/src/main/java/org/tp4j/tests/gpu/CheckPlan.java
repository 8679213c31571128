package org.tp4j.tests.gpu;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The stages of a check, the most valuable first: what the machine is, whether the device computes what the host does, how fast
 * it is, and then two ranks on it. On simulated devices everything runs too, small.
 */
final class CheckPlan {
    private static final String MLP = "org.tp4j.examples.cli.mlp.MlpMain";
    private static final String CONFORMANCE = "org.tp4j.tests.conformance.ConformanceMain";
    private static final String TESTS = "org.tp4j.tests.gpu.DeviceTestRunner"; // among the test classes
    private static final String NCCL = "-Dtp4j.comm.engine=nccl";
    private static final String HOST = "-Dtp4j.comm.engine=host";
    private static final String TF32 = "-Dtp4j.cuda.tf32=true";
    private static final String MACHINE = "versions";
    private static final String AHEAD = "PyTorch compiles ahead";
    private static final String ON_CPU = "mlp on the CPU";
    private static final int SPARE_SECONDS = 10; // between the end of measuring and the end of the stage

    private final GpuCheckMain.Options options;
    private final boolean simulated;

    CheckPlan(GpuCheckMain.Options options) {
        this.options = options;
        this.simulated = !options.simulator().isEmpty();
    }

    List<Stage> stages() {
        List<Stage> stages = new ArrayList<>();
        stages.add(Stage.of(MACHINE, 30, 2, List.of("bash", options.script().toString(), "--versions")));
        stages.add(Stage.of(AHEAD, 110, 2, torch("--ahead --modes compile,reduce-overhead " + sizes()))
                .inBackground());
        stages.add(Stage.of(ON_CPU, 60, 2, mlp("cpu", 1)).inBackground());
        stages.add(Stage.of("device", 60, 5, java("org.tp4j.tests.gpu.SmokeMain")));
        stages.add(Stage.of("kernel tests", 110, 10, tests()));
        stages.add(Stage.of("mlp T=1", 45, 5, mlp("cuda", 1, NCCL)));
        stages.add(Stage.of("losses as on the CPU", 15, 2, losses()).awaiting(ON_CPU));
        stages.add(Stage.of("measurements", 130, 15, bench(130, "--types bf16,fp32"))
                .awaiting(AHEAD));
        stages.add(Stage.of("conformance T=1", 40, 5, conformance(1, NCCL)));
        stages.add(
                Stage.of("nccl T=1", 45, 5, java("org.tp4j.tests.comm.ContractMain", "-Dtp.test.device=cuda", NCCL)));
        stages.add(Stage.of("mlp T=2", 40, 5, mlp("cuda", 2, HOST)));
        stages.add(Stage.of("conformance T=2", 40, 5, conformance(2, HOST)));
        stages.add(Stage.of("measurements TF32", 60, 15, bench(60, "--types tf32 --only-steps", TF32)));
        return stages;
    }

    private String sizes() {
        return "--sizes " + (simulated ? "8x8x16" : "8192x4096x16384,64x256x1024,2048x1024x4096");
    }

    /** PyTorch's side; a machine without Python has none. */
    private List<String> torch(String arguments) {
        String python =
                "command -v \"$1\" >/dev/null || { echo no \"$1\"; exit " + StageRunner.SKIP + "; }; exec \"$@\"";
        List<String> command = new ArrayList<>(List.of("sh", "-c", python, "sh", options.python()));
        command.add(options.torch().toString());
        command.addAll(Arrays.asList(arguments.split(" ", -1)));
        return command;
    }

    private List<String> tests() {
        return simulated
                ? java(TESTS, "org.tp4j.tests.cuda:GemmTest")
                : java(TESTS, "org.tp4j.tests.cuda", "org.tp4j.tests.nccl");
    }

    private Path metrics(String device, int ranks) {
        return options.scratch().resolve("mlp-" + device + "-" + ranks + ".json");
    }

    private List<String> mlp(String device, int ranks, String... properties) {
        List<String> arguments = new ArrayList<>(List.of(properties));
        arguments.addAll(List.of("--device", device, "--ranks", String.valueOf(ranks)));
        arguments.addAll(List.of("--metrics", metrics(device, ranks).toString()));
        if (device.equals("cuda")) {
            arguments.add("--check");
        }
        if (simulated) {
            arguments.addAll(List.of("--epochs", "1", "--batch", "500", "--hidden", "16"));
        }
        return java(MLP, arguments.toArray(String[]::new));
    }

    private List<String> losses() {
        return java(
                "org.tp4j.tests.gpu.LossesMain",
                metrics("cuda", 1).toString(),
                metrics("cpu", 1).toString());
    }

    private List<String> conformance(int ranks, String property) {
        return java(
                CONFORMANCE,
                property,
                options.golden().toString(),
                "--device",
                "cuda",
                "--launcher",
                "threads",
                "--ranks",
                String.valueOf(ranks));
    }

    private List<String> bench(int limit, String arguments, String... properties) {
        List<String> all = new ArrayList<>(List.of(properties));
        all.add("gpu");
        all.addAll(Arrays.asList((arguments + " " + sizes()).split(" ", -1)));
        all.addAll(List.of("--torch", options.python() + " " + options.torch() + " --serve"));
        all.addAll(List.of("--seconds", String.valueOf(limit - SPARE_SECONDS)));
        if (simulated) {
            String small = "--product 16 --copy-megabytes 1 --warm-up-ms 0 --burst-ms 1 --rounds 1 --jvm-warm-up 1";
            all.addAll(Arrays.asList(small.split(" ", -1)));
        }
        return java("org.tp4j.tests.bench.BenchMain", all.toArray(String[]::new));
    }

    /** A JVM like this one; arguments that begin with -D are for it, not for the program. */
    private List<String> java(String main, String... arguments) {
        Path scratch = options.scratch();
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                "--add-modules",
                "jdk.incubator.vector",
                "-Djava.awt.headless=true",
                "-XX:+UseParallelGC",
                "-XX:ErrorFile=" + scratch.resolve("logs/hs_err_%p.log"),
                "-Djava.io.tmpdir=" + System.getProperty("java.io.tmpdir"),
                "-Dtp4j.native.cache=" + scratch.resolve("natives"),
                "-Dorg.bytedeco.javacpp.cachedir=" + scratch.resolve("javacpp"),
                "-Dtp4j.comm.timeoutSeconds=30"));
        if (simulated) { // where kernels may have been compiled already, and these short runs do not repay the JVM's
            // effort
            command.add("-Dtp4j.cuda.simulator=" + options.simulator());
            command.add("-XX:TieredStopAtLevel=1");
        } else {
            command.add("-Dtp4j.cuda.kernelCache=" + scratch.resolve("kernels"));
        }
        List<String> rest = new ArrayList<>();
        for (String argument : arguments) {
            (argument.startsWith("-D") ? command : rest).add(argument);
        }
        command.add(main);
        command.addAll(rest);
        return command;
    }
}
