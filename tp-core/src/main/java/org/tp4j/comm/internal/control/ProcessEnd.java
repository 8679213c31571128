package org.tp4j.comm.internal.control;

import java.util.Map;

/** Why this process ends, as far as a shutdown hook can tell. */
public final class ProcessEnd {
    private ProcessEnd() {}

    /** Such as {@code called System.exit at Main.run(Main.java:12)}, or that it was ended from outside. */
    public static String describe() {
        for (Map.Entry<Thread, StackTraceElement[]> thread :
                Thread.getAllStackTraces().entrySet()) {
            StackTraceElement[] stack = thread.getValue();
            for (int i = 0; i + 1 < stack.length; i++) {
                boolean exits = stack[i].getClassName().equals("java.lang.Runtime")
                        && (stack[i].getMethodName().equals("exit"));
                if (exits) {
                    boolean bySystem = stack[i + 1].getClassName().equals("java.lang.System");
                    int caller = Math.min(i + (bySystem ? 2 : 1), stack.length - 1);
                    return "called System.exit at " + show(stack[caller]);
                }
            }
        }
        return "was ended from outside, by a signal";
    }

    private static String show(StackTraceElement frame) {
        String type = frame.getClassName();
        return type.substring(type.lastIndexOf('.') + 1) + "." + frame.getMethodName() + "(" + frame.getFileName() + ":"
                + frame.getLineNumber() + ")";
    }
}
