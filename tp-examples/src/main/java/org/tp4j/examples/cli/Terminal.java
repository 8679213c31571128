package org.tp4j.examples.cli;

import java.io.Console;
import java.nio.charset.Charset;

/** What standard output is: a terminal whose lines can be redrawn, or a file or pipe. */
public final class Terminal {
    private Terminal() {}

    /** Whether somebody watches standard output, so that a line may be drawn over. */
    @SuppressWarnings("SystemConsoleNull") // it is null up to Java 21
    public static boolean isInteractive() {
        Console console = System.console();
        if (console == null || "dumb".equals(System.getenv("TERM"))) {
            return false;
        }
        try { // from Java 22 on there is a console even where there is no terminal
            return (Boolean) Console.class.getMethod("isTerminal").invoke(console);
        } catch (ReflectiveOperationException e) {
            return true;
        }
    }

    /** Whether standard output can show these characters. */
    public static boolean canShow(String characters) {
        return charset().newEncoder().canEncode(characters);
    }

    /** How standard output encodes characters. */
    static Charset charset() {
        String name = System.getProperty("stdout.encoding", System.getProperty("sun.stdout.encoding", ""));
        return name.isEmpty() ? Charset.defaultCharset() : Charset.forName(name);
    }
}
