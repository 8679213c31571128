package org.tp4j.tensor.internal;

import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import org.tp4j.tensor.NativeLibraryException;

/**
 * Loads the small native libraries that the modules contain, as {@code native/OS-ARCH/libNAME.so} on the class
 * path.
 *
 * <p>From a folder they are loaded where they are. From a jar they are copied once into a {@linkplain PrivateFolder
 * private folder}, under a name that contains their hash, by a temporary file and a rename, so that many processes may start at
 * once and no jar ever loads another release's library. The folder is the system property {@code tp4j.native.cache}, or else
 * {@code ~/.cache/tp4j}.
 */
public final class NativeLibrary {
    private static final String CACHE = "tp4j.native.cache";

    private NativeLibrary() {}

    /**
     * Loads a library for the class that has its native methods.
     *
     * @param owner a class of the module that brings the library
     * @param name the library's name without {@code lib} and suffix
     * @throws NativeLibraryException if the module was built without it or it cannot be loaded
     */
    public static void load(Class<?> owner, String name) {
        String resource = "/native/" + platform() + "/" + System.mapLibraryName(name);
        List<String> tried = new ArrayList<>();
        URL url = owner.getResource(resource);
        if (url == null) {
            tried.add(resource + " on the class path (not there)");
            throw missing(name, tried);
        }
        try {
            Path file = url.getProtocol().equals("file") ? Path.of(url.toURI()) : extract(url, name);
            tried.add(file.toString());
            System.load(file.toAbsolutePath().toString());
        } catch (IOException | java.net.URISyntaxException | UnsatisfiedLinkError e) {
            tried.add(url + " (" + e.getMessage() + ")");
            throw String.valueOf(e.getMessage()).contains("already loaded in another classloader")
                    ? loadedElsewhere(name, tried)
                    : missing(name, tried);
        }
    }

    private static NativeLibraryException loadedElsewhere(String name, List<String> tried) {
        return new NativeLibraryException(
                "this module's native library " + System.mapLibraryName(name)
                        + " is loaded by another class loader of this process already, and a virtual machine loads it once: it",
                tried,
                "load TP4J's jars by one class loader that all its users share, such as the application's or the server's own");
    }

    private static NativeLibraryException missing(String name, List<String> tried) {
        return new NativeLibraryException(
                "this module's native library " + System.mapLibraryName(name),
                tried,
                "it is compiled by the build where a C compiler is found: install gcc and build again, or use a jar built"
                        + " for " + platform());
    }

    /** Operating system and processor, such as {@code linux-x86_64}. */
    public static String platform() {
        String os = System.getProperty("os.name", "").toLowerCase(Locale.ROOT);
        String arch = System.getProperty("os.arch", "").toLowerCase(Locale.ROOT);
        String system = os.startsWith("mac") ? "macosx" : os.startsWith("windows") ? "windows" : "linux";
        String processor = arch.equals("amd64") ? "x86_64" : arch.equals("arm64") ? "aarch64" : arch;
        return system + "-" + processor;
    }

    private static Path extract(URL url, String name) throws IOException {
        byte[] content;
        try (InputStream in = url.openStream()) {
            content = in.readAllBytes();
        }
        String fileName = hash(content) + "-" + System.mapLibraryName(name);
        try {
            return place(PrivateFolder.cache(CACHE, ""), fileName, content);
        } catch (IOException e) {
            // No home, one that cannot be written to, or a folder that others can write to: one of this process's own.
            Path own = Files.createTempDirectory("tp4j");
            own.toFile().deleteOnExit();
            Path file = place(own, fileName, content);
            file.toFile().deleteOnExit();
            return file;
        }
    }

    private static Path place(Path folder, String fileName, byte[] content) throws IOException {
        Path file = folder.resolve(fileName);
        if (!Files.isRegularFile(file) || !Arrays.equals(Files.readAllBytes(file), content)) {
            AtomicFile.write(file, content);
        }
        return file;
    }

    private static String hash(byte[] content) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(content);
            return HexFormat.of().formatHex(digest, 0, 8);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e); // every JDK has it
        }
    }
}
