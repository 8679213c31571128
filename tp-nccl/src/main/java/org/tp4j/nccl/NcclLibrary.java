package org.tp4j.nccl;

import java.util.List;
import java.util.Optional;
import org.tp4j.cuda.internal.libraries.LibrarySearch;
import org.tp4j.tensor.NativeLibraryException;
import org.tp4j.tensor.TpException;
import org.tp4j.tensor.internal.LibraryOutcome;
import org.tp4j.tensor.internal.NativeLibrary;

/** Finds and opens this machine's NCCL, once per process, and keeps the outcome. */
final class NcclLibrary {
    private static final String PROPERTY = "tp4j.nccl.library";
    private static final String SONAME = "libnccl.so.2";
    private static final String NAME = "NCCL (" + SONAME + ")";
    private static final String HINT = "install it (Debian, Ubuntu: apt-get install libnccl2; pip install"
            + " nvidia-nccl-cu12 or -cu13), or name the file with -D" + PROPERTY + "=/path/to/" + SONAME;

    private static final LibrarySearch SEARCH =
            new LibrarySearch(NAME, PROPERTY, List.of(SONAME), List.of("nccl/lib"), HINT);

    private NcclLibrary() {}

    private static final class Holder {
        static final LibraryOutcome<String> OUTCOME = LibraryOutcome.of(NAME, NcclLibrary::open);
    }

    /** Why NCCL cannot be used here; empty if it can. */
    static Optional<String> unavailable() {
        return Holder.OUTCOME.unavailable();
    }

    /**
     * A description of the opened library, such as {@code NCCL 2.18.3 (/usr/lib/x86_64-linux-gnu/libnccl.so.2)}.
     *
     * @throws NativeLibraryException if it cannot be opened, the same each time
     */
    static String require() {
        return Holder.OUTCOME.require();
    }

    private static String open() {
        NativeLibrary.load(NcclNative.class, "tp4j_nccl");
        if (NcclNative.version() != NcclNative.VERSION) {
            throw new TpException(
                    "the native library tp4j_nccl is version " + NcclNative.version() + ", this jar needs version "
                            + NcclNative.VERSION + "; HINT: remove other releases of tp-nccl from the class path");
        }
        String path = SEARCH.open().path();
        String problem = NcclNative.open(path);
        if (problem != null) {
            throw new NativeLibraryException(NAME, List.of(path + ": " + problem), HINT);
        }
        int[] version = new int[1];
        NcclNative.getVersion(version);
        return "NCCL " + versionText(version[0]) + " (" + path + ")";
    }

    /** A version as text. Up to NCCL 2.8, the number is 1000 major + 100 minor + patch. */
    static String versionText(int version) {
        int major = version >= 10_000 ? version / 10_000 : version / 1000;
        int minor = version >= 10_000 ? version / 100 % 100 : version / 100 % 10;
        return major + "." + minor + "." + version % 100;
    }
}
