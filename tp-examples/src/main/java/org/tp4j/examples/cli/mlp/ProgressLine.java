package org.tp4j.examples.cli.mlp;

import java.io.PrintStream;
import me.tongfei.progressbar.ProgressBarConsumer;

/**
 * Draws a progress bar below the lines printed in the meantime: on a terminal it stays the last line and is erased at the
 * end; elsewhere each update is a line of its own.
 */
final class ProgressLine implements ProgressBarConsumer {
    private static final int WIDTH = 78;
    private static final String CLEAR = "\r\033[K";

    private final PrintStream out;
    private final boolean interactive;
    private String shown = "";

    ProgressLine(PrintStream out, boolean interactive) {
        this.out = out;
        this.interactive = interactive;
    }

    @Override
    public int getMaxRenderedLength() {
        return WIDTH;
    }

    @Override
    public synchronized void accept(String bar) {
        if (interactive) {
            out.print(CLEAR + "  " + bar);
        } else if (!bar.equals(shown)) {
            out.println("  " + bar);
        }
        shown = bar;
        out.flush();
    }

    /** Prints a line above the bar. */
    synchronized void print(PrintStream to, String text) {
        if (interactive) {
            to.print(CLEAR + text + System.lineSeparator() + "  " + shown);
        } else {
            to.println(text);
        }
        to.flush();
    }

    @Override
    public synchronized void close() {
        if (interactive) {
            out.print(CLEAR);
            out.flush();
        }
    }
}
