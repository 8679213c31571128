package org.tp4j.tensor;

import java.util.List;

/** A native library is needed and missing; says which, where it was looked for and what to install. */
public class NativeLibraryException extends TpException {
    private static final long serialVersionUID = 1L;

    private final String library;
    private final transient List<String> tried;
    private final String hint;

    /**
     * A library that is missing.
     *
     * @param library its name, for messages
     * @param tried each place looked at, with what was found there
     * @param hint what to install or set
     */
    public NativeLibraryException(String library, List<String> tried, String hint) {
        super(library + " cannot be used; looked at: " + String.join("; ", tried) + "; HINT: " + hint);
        this.library = library;
        this.tried = List.copyOf(tried);
        this.hint = hint;
    }

    /** The library's name. */
    public String library() {
        return library;
    }

    /** The places looked at, with what was found there. */
    public List<String> tried() {
        return tried;
    }

    /** What to install or set. */
    public String hint() {
        return hint;
    }
}
