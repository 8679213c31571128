package org.tp4j.tests.gpu;

import static org.junit.platform.engine.discovery.DiscoverySelectors.selectPackage;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.engine.support.descriptor.ClassSource;
import org.junit.platform.launcher.Launcher;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.TestPlan;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;
import org.junit.platform.launcher.listeners.TestExecutionSummary;

/**
 * Runs device tests where there is no Maven: {@code DeviceTestRunner PACKAGE...}, or {@code PACKAGE:CLASS} for one of it. Each class has a JVM
 * of its own, a few at a time, since a kernel that faults leaves its process no device. A line of JSON for each class, after
 * what its failures say.
 */
public final class DeviceTestRunner {
    private static final int AT_A_TIME = 3;
    private static final int CLASS_SECONDS = 60;
    private static final int FAILURES_SHOWN = 5;
    private static final String ONE = "--class";
    private static final Pattern COUNT = Pattern.compile("^\\{\"tests\".*\"passed\":(\\d+)", Pattern.MULTILINE);
    private static final AtomicInteger PASSED = new AtomicInteger();

    private DeviceTestRunner() {}

    /** Runs; exit code 1 if a test has failed or none has run. */
    public static void main(String[] args) throws Exception {
        System.exit(args.length == 2 && args[0].equals(ONE) ? runClass(args[1]) : runAll(List.of(args)));
    }

    private static int runAll(List<String> names) throws Exception {
        AtomicInteger failed = new AtomicInteger();
        ExecutorService pool = Executors.newFixedThreadPool(AT_A_TIME);
        List<Future<Integer>> codes = new ArrayList<>();
        for (String name : classes(names)) {
            codes.add(pool.submit(() -> fork(name)));
        }
        pool.shutdown();
        for (Future<Integer> code : codes) {
            if (code.get() != 0) {
                failed.incrementAndGet();
            }
        }
        System.out.println(codes.size() + " test classes, " + failed + " with failures, " + PASSED + " tests passed");
        return failed.get() > 0 || PASSED.get() == 0 ? 1 : 0; // skipped alone is no proof
    }

    private static TreeSet<String> classes(List<String> names) {
        TreeSet<String> classes = new TreeSet<>();
        for (String name : names) {
            int colon = name.indexOf(':');
            String only = colon < 0 ? "" : name.substring(colon);
            TestPlan plan = LauncherFactory.create()
                    .discover(LauncherDiscoveryRequestBuilder.request()
                            .selectors(selectPackage(colon < 0 ? name : name.substring(0, colon)))
                            .build());
            for (TestIdentifier engine : plan.getRoots()) {
                for (TestIdentifier test : plan.getChildren(engine)) {
                    String found = test.getSource()
                            .map(source -> ((ClassSource) source).getClassName())
                            .orElse("");
                    if (found.endsWith(only.replace(':', '.'))) {
                        classes.add(found);
                    }
                }
            }
        }
        return classes;
    }

    /** Runs one class in a JVM like this one, and prints what it has printed once it is over. */
    private static int fork(String name) throws Exception {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
        command.addAll(List.of("-cp", System.getProperty("java.class.path")));
        command.addAll(List.of(DeviceTestRunner.class.getName(), ONE, name));
        Path log = Files.createTempFile("device-tests", ".log");
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        boolean ended = process.waitFor(CLASS_SECONDS, TimeUnit.SECONDS);
        if (!ended) {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly().waitFor();
        }
        String output = new String(Files.readAllBytes(log), StandardCharsets.UTF_8);
        Files.delete(log);
        synchronized (DeviceTestRunner.class) {
            System.out.print(output);
            Matcher count = COUNT.matcher(output);
            if (count.find()) {
                PASSED.addAndGet(Integer.parseInt(count.group(1)));
            } else { // it died, or hung
                String how = ended ? "the JVM ended with code " + process.exitValue() : "no end in time";
                System.out.println("FAIL " + name + ": " + how);
                System.out.println(line(name, 0, 1, 0, CLASS_SECONDS));
            }
            System.out.flush();
        }
        return process.exitValue();
    }

    private static int runClass(String name) throws Exception {
        SummaryGeneratingListener listener = new SummaryGeneratingListener();
        Launcher launcher = LauncherFactory.create();
        launcher.execute(
                LauncherDiscoveryRequestBuilder.request()
                        .selectors(DiscoverySelectors.selectClass(name))
                        .build(),
                listener);
        TestExecutionSummary summary = listener.getSummary();
        summary.getFailures().stream().limit(FAILURES_SHOWN).forEach(failure -> {
            System.out.println("FAIL " + name + " "
                    + failure.getTestIdentifier().getDisplayName() + ": " + failure.getException());
            StackTraceElement[] trace = failure.getException().getStackTrace();
            for (int i = 0; i < Math.min(12, trace.length); i++) {
                System.out.println("    at " + trace[i]);
            }
        });
        long failed =
                Math.max(summary.getTestsFailedCount(), summary.getFailures().size());
        long skipped =
                summary.getTestsSkippedCount() + summary.getTestsAbortedCount() + summary.getContainersAbortedCount();
        double seconds = (summary.getTimeFinished() - summary.getTimeStarted()) * 1e-3;
        System.out.println(line(name, summary.getTestsSucceededCount(), failed, skipped, seconds));
        return failed > 0 ? 1 : 0;
    }

    private static String line(String name, long passed, long failed, long skipped, double seconds) {
        return new ObjectMapper()
                .createObjectNode()
                .put("tests", name)
                .put("passed", passed)
                .put("failed", failed)
                .put("skipped", skipped)
                .put("seconds", seconds)
                .toString();
    }
}
