package org.tp4j.examples.cli;

import java.io.Console;
import java.nio.charset.Charset;

/** Properties of standard output: whether it is a terminal, and its character set. */
public final class Terminal {
    private Terminal() {}

    /** Whether standard output is a terminal whose lines can be redrawn. */
    @SuppressWarnings("SystemConsoleNull") // it is null up to Java 21
    public static boolean isInteractive() {
        Console console = System.console();
        if (console == null || "dumb".equals(System.getenv("TERM"))) {
            return false;
        }
        try { // since Java 22 there is a console without a terminal, too
            return (Boolean) Console.class.getMethod("isTerminal").invoke(console);
        } catch (ReflectiveOperationException e) {
            return true;
        }
    }

    /** Whether standard output can encode these characters. */
    public static boolean canShow(String characters) {
        return charset().newEncoder().canEncode(characters);
    }

    /** The character set of standard output. */
    static Charset charset() {
        String name = System.getProperty("stdout.encoding", System.getProperty("sun.stdout.encoding", ""));
        return name.isEmpty() ? Charset.defaultCharset() : Charset.forName(name);
    }
}
