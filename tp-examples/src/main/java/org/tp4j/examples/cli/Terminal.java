package org.tp4j.examples.cli;

import java.io.Console;
import java.io.PrintStream;
import java.nio.charset.Charset;

/** What standard output is: a terminal whose lines can be redrawn, or a file or pipe. */
public final class Terminal {
    private Terminal() {}

    /** Whether somebody watches standard output, so that a line may be drawn over. */
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
    public static boolean canShow(PrintStream out, String characters) {
        String name = System.getProperty("stdout.encoding", System.getProperty("sun.stdout.encoding"));
        Charset charset = name == null ? Charset.defaultCharset() : Charset.forName(name);
        return charset.newEncoder().canEncode(characters);
    }
}
