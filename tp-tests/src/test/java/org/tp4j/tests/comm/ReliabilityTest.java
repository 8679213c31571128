package org.tp4j.tests.comm;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * What the other ranks learn of a rank that fails, and how soon, for each kind of fault and each way to run: who waits for a
 * rank that has ended is told at once, and only a rank that is alive and silent costs the timeout. With
 * {@code -Dtp4j.reliability.write=true} the table of docs/reliability.md is written anew; otherwise its rows are compared, but
 * not its times.
 */
@Timeout(240)
class ReliabilityTest {
    private static final int RANKS = 3;
    private static final int VICTIM = 1;
    private static final double LONG_TIMEOUT = 100; // so long that nobody can have waited for it
    private static final double SHORT_TIMEOUT = 3;
    private static final double SOON_SECONDS = 20; // two on a machine that is not loaded
    private static final Pattern TOLD = Pattern.compile("@told ([0-9]+) ([0-9]+) (.*)");
    private static final Pattern FAULT = Pattern.compile("@fault [0-9]+ ([0-9]+) ");
    private static final TreeMap<String, String> ROWS = new TreeMap<>();

    /** A kind of fault. */
    enum Fault {
        RETURN("return", "returns in the middle", "rank 1 has returned; rank [02] needs it in call 3 "),
        THROW("throw", "throws", "rank 1 has failed: java.lang.IllegalStateException: boom"),
        EXIT("exit", "calls `System.exit(3)`", "rank 1 has exited: called System.exit at FailureMain.fail"),
        KILL(
                "kill",
                "is killed (`SIGKILL`)",
                "rank 1 is gone: its process [0-9]+ ended without a word, killed or crashed"),
        STOP(
                "stop",
                "is stopped (`SIGSTOP`) for good",
                "rank 1 has been silent for [0-9.]+ s; before that, rank 1 has made 2 calls"),
        LATE(
                "late",
                "computes for longer than the timeout",
                "rank 1 is elsewhere: rank 1 has made 2 calls, the last call 2"),
        /** Both sides run out of time at once; who is first, is told by the other. */
        ELSEWHERE(
                "elsewhere",
                "waits in a call on another group",
                // how it is put depends on what the last heartbeat of the other has said
                "in call 4 on group 'world': allReduce.*; rank 1 .*call 1 on group 'dp': barrier"
                        + "|in call 1 on group 'dp': barrier.*; rank [02] .*call 4 on group 'world': allReduce"),
        TYPE(
                "type",
                "gives another type",
                "broadcast\\(float32 \\[1\\].*broadcast\\(float64|broadcast\\(float64.*broadcast\\(float32"),
        PAUSE("pause", "is paused for two seconds, less than the timeout", "");

        final String argument;
        final String text;
        final String says;

        Fault(String argument, String text, String says) {
            this.argument = argument;
            this.text = text;
            this.says = says;
        }

        boolean needsProcesses() {
            return Set.of(EXIT, KILL, STOP, PAUSE).contains(this);
        }

        boolean costsTheTimeout() {
            return Set.of(STOP, LATE, ELSEWHERE).contains(this);
        }
    }

    /** What a rank was told. */
    private record Told(int rank, long atMs, String message) {}

    @TempDir
    Path meeting;

    @TempDir
    Path records;

    static Stream<Arguments> all() {
        List<Arguments> all = new ArrayList<>();
        for (Fault fault : Fault.values()) {
            for (RankRun.Way way : RankRun.Way.values()) {
                if (!fault.needsProcesses() || way.isProcesses()) {
                    all.add(Arguments.of(fault, way));
                }
            }
        }
        return all.stream();
    }

    /** Faults that cost the timeout are tried in one way, and the others in all. */
    static Stream<Arguments> quick() {
        return all().filter(one -> {
            Fault fault = (Fault) one.get()[0];
            return one.get()[1] == RankRun.Way.MPI || !fault.costsTheTimeout() && fault != Fault.PAUSE;
        });
    }

    @Tag("soak")
    @ParameterizedTest(name = "{0}, {1}")
    @MethodSource("all")
    void shouldTellTheOthersInEveryWay(Fault fault, RankRun.Way way) throws Exception {
        shouldTellTheOthers(fault, way);
    }

    @ParameterizedTest(name = "{0}, {1}")
    @MethodSource("quick")
    void shouldTellTheOthers(Fault fault, RankRun.Way way) throws Exception {
        RankRun.assume(way);
        double timeout = fault.costsTheTimeout() ? SHORT_TIMEOUT : LONG_TIMEOUT;
        RankRun run = new RankRun(way, RANKS, FailureMain.class)
                .jvm("-Dtp4j.comm.timeoutSeconds=" + timeout, "-D" + FailureMain.MEETING + "=" + meeting)
                .jvm("-Dtp4j.comm.flightRecord=" + records)
                .args(fault.argument, String.valueOf(VICTIM));
        if (fault == Fault.STOP || fault == Fault.LATE) {
            run.notWaitingFor(VICTIM);
        }
        RankRun.Result result = run.run();
        Matcher at = FAULT.matcher(result.output());
        assertThat(at.find()).as(result.output()).isTrue();
        long faultMs = Long.parseLong(at.group(1));
        List<Told> told = told(result.output());
        if (fault == Fault.PAUSE) {
            assertThat(told).as(result.output()).isEmpty();
            assertThat(result.output()).contains("result 10: 6.0");
            assertThat(result.exitCodes()).as(result.output()).containsOnly(0);
            row(fault, way, "nobody", "nothing: training goes on", -1);
            return;
        }
        assertThat(result.output()).doesNotContain("a result for a call that nobody else made", "result 4");
        List<Told> others = told.stream().filter(each -> each.rank() != VICTIM).toList();
        assertThat(others)
                .as("%s%n%s", fault, result.output())
                .isNotEmpty()
                .allSatisfy(
                        each -> assertThat(each.message()).as(result.output()).doesNotContain("has made no call yet"));
        Told first =
                others.stream().min((a, b) -> Long.compare(a.atMs(), b.atMs())).orElseThrow();
        assertThat(first.message()).as(result.output()).containsPattern(fault.says);
        double seconds = (first.atMs() - faultMs) * 1e-3;
        assertThat(seconds).isLessThan((fault.costsTheTimeout() ? timeout : 0) + SOON_SECONDS);
        Set<Integer> who = new TreeSet<>();
        others.forEach(each -> who.add(each.rank()));
        row(fault, way, who.toString().replaceAll("[\\[\\]]", ""), first.message(), seconds);
    }

    private static List<Told> told(String output) {
        List<Told> found = new ArrayList<>();
        Matcher told = TOLD.matcher(output);
        while (told.find()) {
            found.add(new Told(Integer.parseInt(told.group(1)), Long.parseLong(told.group(2)), told.group(3)));
        }
        return found;
    }

    private static synchronized void row(Fault fault, RankRun.Way way, String who, String says, double seconds) {
        int hint = says.indexOf("; HINT");
        String said = (hint < 0 ? says : says.substring(0, hint))
                .replaceAll("FailureMain.java:[0-9]+", "FailureMain.java")
                .replaceAll("process [0-9]+", "process 4711")
                .replace("|", "\\|");
        ROWS.put(
                fault.ordinal() + "/" + way.ordinal(),
                String.format(
                        Locale.ROOT,
                        "| %s | %s, %s | %s | %s | %s |",
                        fault.text,
                        way.launcher,
                        way.engine,
                        who,
                        seconds < 0 ? said : "`" + said + "`",
                        seconds < 0 ? "" : String.format(Locale.ROOT, "%.1f", seconds)));
    }

    private static String head() {
        return "# What the others learn of a rank that fails\n\n"
                + "Written by `ReliabilityTest` (`scripts/test.sh --soak -Dtp4j.reliability.write=true`), on a machine of two cores, three ranks, rank 1"
                + " fails at\nits third call. The timeout is " + (int) SHORT_TIMEOUT
                + " s where the rank is alive, and " + (int) LONG_TIMEOUT + " s otherwise, by default 600. NCCL is the"
                + " simulator's.\n\n"
                + "| rank 1 | launcher, engine | told | first message | after seconds |\n|---|---|---|---|---|\n";
    }

    @AfterAll
    static void compareTable() throws IOException {
        if (ROWS.size() != all().count()) {
            return; // a quick run, or some were skipped
        }
        Path file = Path.of(System.getProperty("tp.root"), "docs", "reliability.md");
        if (Boolean.getBoolean("tp4j.reliability.write")) {
            Files.writeString(file, head() + String.join("\n", ROWS.values()) + "\n");
        }
        assertThat(firstColumns(Files.readString(file)))
                .as("docs/reliability.md; HINT: -Dtp4j.reliability.write=true writes it anew")
                .isEqualTo(firstColumns(head() + String.join("\n", ROWS.values()) + "\n"));
    }

    /** The faults and the ways: messages name the rank that was first, and times depend on the machine. */
    private static List<String> firstColumns(String table) {
        return table.lines()
                .filter(line -> line.startsWith("| "))
                .map(line -> line.split("\\|", -1)[1] + "|" + line.split("\\|", -1)[2])
                .toList();
    }
}
