package org.tp4j.examples.cli;

import java.io.OutputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import org.tp4j.tensor.TpException;
import picocli.CommandLine;

/** Runs a command and turns its failures into messages and exit codes. */
public final class CommandRunner {
    /** Success. */
    public static final int OK = 0;

    /** The command or a check failed. */
    public static final int FAILED = 1;

    /** Invalid arguments. */
    public static final int USAGE = 2;

    private static final long SILENT_FAILURE_DELAY_MS = 10_000;

    private CommandRunner() {}

    /**
     * Runs a command and prints its failure: a {@link TpException} as its message, anything else with its stack trace.
     *
     * @param command an annotated command
     * @param printing whether this process prints. A rank that does not waits before it fails, so that rank 0 can print its
     *     message: mpirun ends all processes when one fails
     * @return the exit code
     */
    public static int run(Object command, boolean printing, String... arguments) {
        int code = new CommandLine(command)
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setOut(new PrintWriter(printing ? System.out : discard(), true, Terminal.charset()))
                .setErr(new PrintWriter(printing ? System.err : discard(), true, Terminal.charset()))
                .setParameterExceptionHandler(CommandRunner::explainUsage)
                .setExecutionExceptionHandler((failure, line, parsed) -> explain(failure, line))
                .execute(arguments);
        if (!printing && code != OK) {
            sleep(SILENT_FAILURE_DELAY_MS);
        }
        return code;
    }

    private static PrintStream discard() {
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

    /** Prints why a command failed and returns the exit code. */
    public static int explain(Exception failure, CommandLine line) {
        PrintWriter err = line.getErr();
        if (failure instanceof TpException) {
            err.println(line.getCommandName() + ": " + failure.getMessage());
        } else {
            err.println(line.getCommandName()
                    + ": unexpected error; please report it with the output of scripts/doctor.sh:");
            failure.printStackTrace(err);
        }
        return FAILED;
    }
}
