package org.tp4j.examples.cli;

import java.io.OutputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import org.tp4j.tensor.TpException;
import picocli.CommandLine;

/** How all commands end: their errors in words, their exit codes. */
public final class CommandLines {
    /** All went well. */
    public static final int OK = 0;

    /** The work failed, or a check did. */
    public static final int FAILED = 1;

    /** The command line was not understood. */
    public static final int USAGE = 2;

    private static final long PATIENCE_MS = 10_000;

    private CommandLines() {}

    /**
     * Runs a command. What it throws is printed: without a stack where it explains itself, with one otherwise.
     *
     * @param command an annotated command
     * @param speaks whether this process does the talking; another rank keeps quiet and leaves the first time to speak,
     *     because mpirun ends all processes when one fails
     * @return the exit code
     */
    public static int run(Object command, boolean speaks, String... arguments) {
        int code = new CommandLine(command)
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setOut(new PrintWriter(speaks ? System.out : nowhere(), true, Terminal.charset()))
                .setErr(new PrintWriter(speaks ? System.err : nowhere(), true, Terminal.charset()))
                .setParameterExceptionHandler(CommandLines::explainUsage)
                .setExecutionExceptionHandler((failure, line, parsed) -> explain(failure, line))
                .execute(arguments);
        if (!speaks && code != OK) {
            sleep(PATIENCE_MS);
        }
        return code;
    }

    private static PrintStream nowhere() {
        return new PrintStream(OutputStream.nullOutputStream(), false, StandardCharsets.UTF_8);
    }

    private static void sleep(long ms) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static int explainUsage(CommandLine.ParameterException problem, String... arguments) {
        CommandLine line = problem.getCommandLine();
        String message = String.valueOf(problem.getMessage());
        line.getErr().println(line.getCommandName() + ": " + message);
        if (!message.contains("HINT:")) {
            line.getErr().println("HINT: " + line.getCommandName() + " --help lists the options");
        }
        return USAGE;
    }

    /** Prints why a command failed; returns the exit code. */
    public static int explain(Exception failure, CommandLine line) {
        PrintWriter err = line.getErr();
        if (failure instanceof TpException) {
            err.println(line.getCommandName() + ": " + failure.getMessage());
        } else {
            err.println(line.getCommandName() + ": unexpected, please report it with the output of scripts/doctor.sh:");
            failure.printStackTrace(err);
        }
        return FAILED;
    }
}
