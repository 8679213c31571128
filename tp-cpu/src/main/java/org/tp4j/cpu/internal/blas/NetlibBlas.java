package org.tp4j.cpu.internal.blas;

import dev.ludovic.netlib.blas.BLAS;
import dev.ludovic.netlib.blas.JavaBLAS;
import dev.ludovic.netlib.blas.NativeBLAS;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.Optional;
import java.util.stream.Stream;
import org.bytedeco.javacpp.Loader;
import org.bytedeco.openblas.global.openblas_nolapack;
import org.tp4j.tensor.internal.Notices;

/**
 * BLAS through {@code dev.ludovic.netlib}: OpenBLAS of {@code org.bytedeco} where its natives are on the class path, pure
 * Java otherwise. Its JNI works on the Java arrays in place and pins them meanwhile.
 */
public final class NetlibBlas implements Blas {
    /** Where netlib looks for the BLAS it forwards to; a user's own setting takes precedence. */
    private static final String LIBRARY_PROPERTY = "dev.ludovic.netlib.blas.nativeLibPath";

    private final BLAS blas;
    private final String description;
    private final boolean openblas;
    private int threads = 1;

    private NetlibBlas(BLAS blas, String description, boolean openblas) {
        this.blas = blas;
        this.description = description;
        this.openblas = openblas;
    }

    /** The process's BLAS: OpenBLAS if it can be loaded, otherwise pure Java. */
    public static NetlibBlas load() {
        return Holder.INSTANCE;
    }

    /** Once a process: the setting that tells netlib where OpenBLAS is must not be taken for a user's the second time. */
    private static final class Holder {
        static final NetlibBlas INSTANCE = openblasOrJava();
    }

    /** One line in the log says why if it is Java. */
    private static NetlibBlas openblasOrJava() {
        try {
            return openblas();
        } catch (LinkageError | RuntimeException e) {
            Notices.warn(
                    NetlibBlas.class,
                    "OpenBLAS is not available (" + e.toString().replaceAll("\\s+", " ")
                            + "); matrix products run in pure Java, several times slower. HINT: on Linux add"
                            + " org.bytedeco:openblas and javacpp with the classifier of this machine ("
                            + System.getProperty("os.name") + " " + System.getProperty("os.arch")
                            + ") to the class path");
            return java();
        }
    }

    /** netlib's own Java code. */
    public static NetlibBlas java() {
        // netlib tries its natives first and warns about them; what is to be said has been said
        java.util.logging.Logger chatter =
                java.util.logging.Logger.getLogger("dev.ludovic.netlib.blas.InstanceBuilder");
        java.util.logging.Level before = chatter.getLevel();
        chatter.setLevel(java.util.logging.Level.OFF);
        BLAS blas = JavaBLAS.getInstance();
        chatter.setLevel(before);
        return new NetlibBlas(blas, "pure Java (" + blas.getClass().getSimpleName() + ")", false);
    }

    private static NetlibBlas openblas() {
        String chosen = System.getProperty(LIBRARY_PROPERTY);
        if (chosen != null) {
            return new NetlibBlas(loaded(), chosen, false);
        }
        Path library = extracted();
        System.setProperty(LIBRARY_PROPERTY, library.toString());
        return new NetlibBlas(loaded(), "OpenBLAS (" + library + ")", true);
    }

    private static NativeBLAS loaded() {
        NativeBLAS loaded = NativeBLAS.getInstance();
        ExtractedLibraries.delete("libnetlibblasjni.so");
        return loaded;
    }

    /** Lets JavaCPP extract and load its OpenBLAS; the library is next to its JNI, under a name that varies. */
    private static Path extracted() {
        Path folder = Path.of(Loader.load(openblas_nolapack.class)).getParent();
        if (folder != null) {
            String prefix = System.mapLibraryName("openblas").replaceAll("\\..*", "");
            try (Stream<Path> files = Files.list(folder)) {
                Optional<Path> library = files.filter(Files::isRegularFile)
                        .filter(file -> file.getFileName().toString().startsWith(prefix))
                        .max(Comparator.comparing(Path::toString));
                if (library.isPresent()) {
                    return library.get();
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
        throw new UnsatisfiedLinkError("no OpenBLAS library in " + folder);
    }

    @Override
    public void sgemm(
            boolean transposeA,
            boolean transposeB,
            int m,
            int n,
            int k,
            float alpha,
            float[] a,
            int offsetA,
            float[] b,
            int offsetB,
            float beta,
            float[] c,
            int offsetC) {
        // BLAS is column-major: it sees each matrix transposed, and Cᵀ = op(B)ᵀ op(A)ᵀ
        int ldA = transposeA ? m : k;
        int ldB = transposeB ? k : n;
        blas.sgemm(
                transposeB ? "T" : "N",
                transposeA ? "T" : "N",
                n,
                m,
                k,
                alpha,
                b,
                offsetB,
                ldB,
                a,
                offsetA,
                ldA,
                beta,
                c,
                offsetC,
                n);
    }

    @Override
    public void dgemm(
            boolean transposeA,
            boolean transposeB,
            int m,
            int n,
            int k,
            double alpha,
            double[] a,
            int offsetA,
            double[] b,
            int offsetB,
            double beta,
            double[] c,
            int offsetC) {
        int ldA = transposeA ? m : k;
        int ldB = transposeB ? k : n;
        blas.dgemm(
                transposeB ? "T" : "N",
                transposeA ? "T" : "N",
                n,
                m,
                k,
                alpha,
                b,
                offsetB,
                ldB,
                a,
                offsetA,
                ldA,
                beta,
                c,
                offsetC,
                n);
    }

    @Override
    public String description() {
        return description;
    }

    @Override
    public synchronized void setThreads(int count) {
        if (openblas) {
            org.bytedeco.openblas.presets.openblas_nolapack.blas_set_num_threads(count);
            threads = count;
        }
    }

    @Override
    public synchronized int threads() {
        return threads;
    }
}
