package org.tp4j.tests.bench;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;
import org.tp4j.comm.World;
import org.tp4j.comm.launch.Launch;
import org.tp4j.comm.launch.LaunchOptions;
import org.tp4j.cuda.CudaBackend;
import org.tp4j.cuda.CudaLibraries;
import org.tp4j.tensor.CapturedStep;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.Scope;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * What one GPU gives, and PyTorch on it in turns: the MLP's training step eager and captured, what an operation costs the
 * host, products, copies, kernels. A line of JSON each, as soon as it is known; what no longer fits the time is left out, and
 * a line says so.
 */
@Command(
        name = "gpu",
        description = "A GPU's rates, and the MLP's training step beside PyTorch's; a line of JSON each.",
        mixinStandardHelpOptions = true,
        sortOptions = false)
@SuppressWarnings("try") // scopes that only own
public final class GpuBench implements Callable<Integer> {
    private static final long PEER_MS = 90_000; // PyTorch compiles in it

    /** Types of the step by name; tf32 is float32 multiplied with ten bits of mantissa. */
    private enum Type {
        bf16(DType.BFLOAT16),
        fp32(DType.FLOAT32),
        tf32(DType.FLOAT32);

        private final DType dtype;

        Type(DType dtype) {
            this.dtype = dtype;
        }
    }

    /** Sizes of an MLP: rows of x, columns of x, hidden columns. */
    private record Sizes(int tokens, int hidden, int ffn) {
        static Sizes parse(String text) {
            String[] parts = text.split("x", -1);
            try {
                return new Sizes(Integer.parseInt(parts[0]), Integer.parseInt(parts[1]), Integer.parseInt(parts[2]));
            } catch (NumberFormatException | ArrayIndexOutOfBoundsException e) {
                throw new IllegalArgumentException("--sizes is " + text + "; HINT: for instance 8192x4096x16384", e);
            }
        }
    }

    @Spec
    @SuppressWarnings("NullAway.Init") // set before call()
    private CommandSpec spec;

    @Option(names = "--types", split = ",", description = "bf16, fp32, tf32 (default: bf16,fp32).")
    private List<Type> types = List.of(Type.bf16, Type.fp32);

    @Option(
            names = "--sizes",
            split = ",",
            paramLabel = "TOKENSxHIDDENxFFN",
            description = "Of the MLP (default: 8192x4096x16384,64x256x1024,2048x1024x4096).")
    private List<String> sizes = List.of("8192x4096x16384", "64x256x1024", "2048x1024x4096");

    @Option(names = "--product", paramLabel = "N", description = "Side of the square product (default: 8192).")
    private int product = 8192;

    @Option(names = "--copy-megabytes", paramLabel = "N", description = "Size of copies (default: 256).")
    private int copyMegabytes = 256;

    @Option(names = "--only-steps", description = "Leave operations, copies and kernels out.")
    private boolean onlySteps;

    @Option(names = "--warm-up-ms", paramLabel = "N", description = "Of each side (default: ${DEFAULT-VALUE}).")
    private int warmUpMs = 400;

    @Option(names = "--burst-ms", paramLabel = "N", description = "Of one burst of calls (default: ${DEFAULT-VALUE}).")
    private int burstMs = 60;

    @Option(names = "--rounds", paramLabel = "N", description = "Bursts of each side (default: ${DEFAULT-VALUE}).")
    private int rounds = 7;

    @Option(
            names = "--jvm-warm-up",
            paramLabel = "N",
            description = "Steps of a small model in which the JVM compiles (default: ${DEFAULT-VALUE}).")
    private int jvmWarmUp = 1500;

    @Option(names = "--seconds", paramLabel = "N", description = "Begin nothing after that time (default: 120).")
    private int seconds = 120;

    @Option(
            names = "--torch",
            paramLabel = "COMMAND",
            description = "The other side, such as \"python3 scripts/torch_mlp.py --serve\"; without it there is none.")
    private String torch = "";

    @Override
    public Integer call() {
        long deadline = System.nanoTime() + seconds * 1_000_000_000L;
        boolean tf32 = Boolean.getBoolean("tp4j.cuda.tf32");
        for (Type type : types) {
            if (type != Type.bf16 && (type == Type.tf32) != tf32) {
                throw new CommandLine.ParameterException(
                        spec.commandLine(),
                        "--types " + type + ", but products of float32 are set to " + (tf32 ? "TF32" : "32 bits")
                                + " here; HINT: -Dtp4j.cuda.tf32=" + !tf32);
            }
        }
        List<Sizes> all = sizes.stream().map(Sizes::parse).toList();
        LaunchOptions options =
                LaunchOptions.defaults().withLauncher("threads").withRanks(1).withDeviceType("cuda");
        List<String> command =
                torch.isBlank() ? List.of() : List.of(torch.strip().split(" +"));
        AtomicBoolean passed = new AtomicBoolean();
        try (TorchPeer peer = TorchPeer.start(command)) {
            Launch.run(options, world -> passed.set(new Session(world, peer, deadline).run(all)));
        }
        return passed.get() ? 0 : 1;
    }

    /** The measurements, in the order of their worth. */
    private final class Session {
        private final World world;
        private final CudaBackend backend;
        private final TorchPeer peer;
        private final long deadline;
        private final Pace pace = new Pace(warmUpMs, burstMs, rounds);
        private final PrintWriter out = spec.commandLine().getOut();
        private boolean failed;

        Session(World world, TorchPeer peer, long deadline) {
            this.world = world;
            this.backend = (CudaBackend) world.backend();
            this.peer = peer;
            this.deadline = deadline;
        }

        /** Whether all of ours could be measured. */
        boolean run(List<Sizes> all) {
            print(facts());
            attempt("warm-up", this::warmUpJvm);
            Sizes first = all.get(0);
            for (Type type : types) {
                attempt("mlp " + type + " " + first, () -> measureStep(type, first));
            }
            if (!onlySteps) {
                attempt("op", this::measureOperations);
            }
            for (Type type : types) {
                attempt("product " + type, () -> measureProducts(type, first));
            }
            for (Sizes other : all.subList(1, all.size())) {
                for (Type type : types) {
                    attempt("mlp " + type + " " + other, () -> measureStep(type, other));
                }
            }
            if (!onlySteps) {
                attempt("copies", () -> print(new CopyRates(backend, copyMegabytes << 20, 5).measure()));
                for (Type type : types) {
                    attempt("kernels " + type, () -> measureKernels(type, first));
                }
            }
            return !failed;
        }

        private void print(Report report) {
            out.println(report);
            out.flush();
        }

        /** Leaves it out if there is no time for it any more; memory that it takes is given back. */
        private void attempt(String what, Runnable body) {
            if (System.nanoTime() >= deadline) {
                print(new Report().put("measure", "skipped").put("what", what).put("why", "no time left"));
                return;
            }
            try (Scope scope = Scope.open(what)) {
                body.run();
            } catch (RuntimeException e) {
                failed = true; // the others are still worth knowing
                print(new Report().put("measure", "failed").put("what", what).put("why", String.valueOf(e)));
                e.printStackTrace();
            }
            backend.trimMemory();
        }

        private Report facts() {
            Report report = new Report()
                    .put("measure", "sides")
                    .put("device", backend.description())
                    .put("libraries", CudaLibraries.load().paths());
            try {
                report.put("torch", peer.ask(Map.of("do", "versions"), PEER_MS));
            } catch (PeerException e) {
                report.put("torch_absent", String.valueOf(e.getMessage()));
            }
            return report;
        }

        private void warmUpJvm() {
            TrainedMlp small = new TrainedMlp(world, types.get(0).dtype, 64, 64, 64);
            for (int i = 0; i < jvmWarmUp; i++) {
                small.step();
            }
            backend.synchronize();
        }

        private void measureStep(Type type, Sizes of) {
            TrainedMlp eager = new TrainedMlp(world, type.dtype, of.tokens, of.hidden, of.ffn);
            TrainedMlp captured = new TrainedMlp(world, type.dtype, of.tokens, of.hidden, of.ffn);
            try (CapturedStep graph = backend.capture(captured::step)) {
                List<Contender> sides = new ArrayList<>();
                sides.add(new DeviceContender("gemms", backend, pace, eager.gemms()::run));
                sides.add(new DeviceContender("eager", backend, pace, eager::step));
                sides.add(new DeviceContender("graph", backend, pace, graph::run));
                for (String mode : List.of("eager", "compile", "reduce-overhead")) {
                    Map<String, Object> question = new LinkedHashMap<>();
                    question.put("what", "mlp");
                    question.put("mode", mode);
                    question.put("dtype", type.name());
                    question.put("tokens", of.tokens);
                    question.put("hidden", of.hidden);
                    question.put("ffn", of.ffn);
                    sides.add(peer.contender("torch_" + mode.replace('-', '_'), question, pace, PEER_MS));
                }
                print(report(type, of, contest(sides)));
            }
        }

        private Contest contest(List<Contender> sides) {
            Contest contest = new Contest(pace).run(sides);
            failed |= contest.hasFailures();
            return contest;
        }

        private Report report(Type type, Sizes of, Contest times) {
            double flops = TrainedMlp.flops(of.tokens, of.hidden, of.ffn);
            Report report = new Report()
                    .put("measure", "mlp")
                    .put("dtype", type.name())
                    .put("tokens", of.tokens)
                    .put("hidden", of.hidden)
                    .put("ffn", of.ffn);
            times.addTo(report)
                    .put("gemms_tflops", flops / times.medianMs("gemms") / 1e9, 2)
                    .put("eager_tflops", flops / times.medianMs("eager") / 1e9, 2)
                    .put("graph_tflops", flops / times.medianMs("graph") / 1e9, 2)
                    .put("eager_gemm_share", times.medianMs("gemms") / times.medianMs("eager"), 4)
                    .put("graph_gemm_share", times.medianMs("gemms") / times.medianMs("graph"), 4);
            for (String other : List.of("torch_eager", "torch_compile", "torch_reduce_overhead")) {
                if (times.has(other)) {
                    report.put("eager_over_" + other, times.medianMs(other) / times.medianMs("eager"), 3)
                            .put("graph_over_" + other, times.medianMs(other) / times.medianMs("graph"), 3);
                }
            }
            return report;
        }

        private void measureOperations() {
            Report report = new Report().put("measure", "op");
            new OpBench(warmUpMs, Math.max(20, rounds * 500)).measure(world, report);
            try {
                peer.ask(Map.of("do", "op"), PEER_MS)
                        .properties()
                        .forEach(field -> report.put("torch_" + field.getKey(), field.getValue()));
            } catch (PeerException e) {
                report.put("torch_absent", String.valueOf(e.getMessage()));
            }
            print(report);
        }

        private void measureKernels(Type type, Sizes of) {
            KernelRates rates = new KernelRates(backend, type.dtype, of.tokens, of.ffn, new Pace(0, burstMs / 4, 3));
            rates.measure().forEach(this::print);
            failed |= rates.hasFailures();
        }

        private void measureProducts(Type type, Sizes of) {
            MlpGemms ofStep = new MlpGemms(backend, type.dtype, of.tokens, of.hidden, of.ffn);
            for (MlpGemms.Product one : ofStep.products()) {
                measureProduct(type, one.name(), one, () -> ofStep.run(one));
            }
            MlpGemms square = new MlpGemms(backend, type.dtype, product, product, product);
            MlpGemms.Product one = square.products().get(0);
            measureProduct(type, "square", one, () -> square.run(one));
        }

        private void measureProduct(Type type, String name, MlpGemms.Product of, Runnable body) {
            Map<String, Object> question = new LinkedHashMap<>();
            question.put("what", "product");
            question.put("dtype", type.name());
            question.put("m", of.m());
            question.put("n", of.n());
            question.put("k", of.k());
            question.put("transpose_a", of.transposeA());
            question.put("transpose_b", of.transposeB());
            Contest times = contest(List.of(
                    new DeviceContender("product", backend, pace, body),
                    peer.contender("torch", question, pace, PEER_MS)));
            Report report = new Report()
                    .put("measure", "product")
                    .put("product", name)
                    .put("dtype", type.name())
                    .put("m", of.m())
                    .put("n", of.n())
                    .put("k", of.k());
            times.addTo(report).put("tflops", of.flops() / times.medianMs("product") / 1e9, 2);
            if (times.has("torch")) {
                report.put("torch_tflops", of.flops() / times.medianMs("torch") / 1e9, 2);
            }
            print(report);
        }
    }
}
