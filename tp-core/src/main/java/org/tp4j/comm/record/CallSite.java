package org.tp4j.comm.record;

/** Where in the program a call was made. Costs a stack walk, a few microseconds. */
final class CallSite {
    private static final StackWalker WALKER = StackWalker.getInstance();

    private CallSite() {}

    /** The innermost frame outside the library, otherwise outside {@code org.tp4j.comm}. */
    static String find() {
        return WALKER.walk(frames -> {
            StackWalker.StackFrame own = null;
            for (StackWalker.StackFrame frame : (Iterable<StackWalker.StackFrame>) frames::iterator) {
                String name = frame.getClassName();
                if (name.startsWith("org.tp4j.")) {
                    own = own == null && !name.startsWith("org.tp4j.comm.") ? frame : own;
                } else if (!name.startsWith("java.") && !name.startsWith("jdk.")) {
                    return show(frame);
                }
            }
            return own == null ? "an unknown location" : show(own);
        });
    }

    private static String show(StackWalker.StackFrame frame) {
        String type = frame.getClassName();
        return type.substring(type.lastIndexOf('.') + 1) + "." + frame.getMethodName() + "(" + frame.getFileName() + ":"
                + frame.getLineNumber() + ")";
    }
}
