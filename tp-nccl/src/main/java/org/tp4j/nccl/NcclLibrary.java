package org.tp4j.nccl;

import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.tp4j.cuda.LibrarySearch;
import org.tp4j.tensor.NativeLibrary;
import org.tp4j.tensor.NativeLibraryException;
import org.tp4j.tensor.TpException;

/** Finds and opens this machine's NCCL, once a process; which one, is kept, and why not, too. */
final class NcclLibrary {
    private static final String PROPERTY = "tp4j.nccl.library";
    private static final String SONAME = "libnccl.so.2";
    private static final String NAME = "NCCL (" + SONAME + ")";
    private static final String HINT = "install it (Debian, Ubuntu: apt-get install libnccl2; pip install"
            + " nvidia-nccl-cu12 or -cu13), or name the file with -D" + PROPERTY + "=/path/to/" + SONAME;

    private static final LibrarySearch SEARCH =
            new LibrarySearch(NAME, PROPERTY, List.of(SONAME), List.of("nccl/lib"), HINT);

    private NcclLibrary() {}

    /**
     * What came of looking; a failure is an answer here, not an exception, so that asking again gives it again.
     *
     * @param description version and file; null if there is none
     * @param failure why there is none
     */
    private record Outcome(
            @Nullable String description, @Nullable TpException failure) {}

    private static final class Holder {
        static final Outcome OUTCOME = look();
    }

    /** Why NCCL cannot be used here; empty if it can. */
    static Optional<String> unavailable() {
        TpException failure = Holder.OUTCOME.failure();
        return failure == null ? Optional.empty() : Optional.of(String.valueOf(failure.getMessage()));
    }

    /**
     * The library in words, such as {@code NCCL 2.18.3 (/usr/lib/x86_64-linux-gnu/libnccl.so.2)}, opened.
     *
     * @throws NativeLibraryException if there is none, the same each time
     */
    static String require() {
        TpException failure = Holder.OUTCOME.failure();
        if (failure instanceof NativeLibraryException missing) {
            throw new NativeLibraryException(missing.library(), missing.tried(), missing.hint());
        }
        if (failure != null) {
            throw new TpException(String.valueOf(failure.getMessage()), failure);
        }
        return String.valueOf(Holder.OUTCOME.description());
    }

    private static Outcome look() {
        try {
            NativeLibrary.load(NcclNative.class, "tp4j_nccl");
            if (NcclNative.version() != NcclNative.VERSION) {
                throw new TpException(
                        "the native library tp4j_nccl is of version " + NcclNative.version() + ", this jar needs "
                                + NcclNative.VERSION + "; HINT: remove other releases of tp-nccl from the class path");
            }
            return open();
        } catch (TpException e) {
            return new Outcome(null, e);
        } catch (RuntimeException | LinkageError e) {
            return new Outcome(null, new TpException(NAME + " cannot be used: " + e, e));
        }
    }

    private static Outcome open() {
        String path = SEARCH.open().path();
        String problem = NcclNative.open(path);
        if (problem != null) {
            throw new NativeLibraryException(NAME, List.of(path + ": " + problem), HINT);
        }
        int[] version = new int[1];
        NcclNative.getVersion(version);
        return new Outcome("NCCL " + JNccl.versionText(version[0]) + " (" + path + ")", null);
    }
}
