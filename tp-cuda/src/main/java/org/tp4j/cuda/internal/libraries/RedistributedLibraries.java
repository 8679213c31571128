package org.tp4j.cuda.internal.libraries;

import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.nio.channels.Channels;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tp4j.tensor.internal.AtomicFile;
import org.tp4j.tensor.internal.PrivateFolder;

/**
 * NVIDIA's libraries as a dependency: the artifact {@code org.bytedeco:cuda:12.6-9.5-1.5.11:linux-x86_64-redist} (2 GB) holds
 * cuBLAS, NVRTC, NCCL and much else. A requested library is copied once out of its jar into {@code
 * ~/.cache/tp4j/cuda-redist} (or the folder {@code tp4j.native.cache}), through a temporary file and a rename.
 */
final class RedistributedLibraries {
    private static final Logger LOG = LoggerFactory.getLogger(RedistributedLibraries.class);
    private static final String FOLDER = "org/bytedeco/cuda/linux-x86_64/";

    /** Libraries that a library needs beside itself. */
    private static final List<String> COMPANIONS =
            List.of("libcublasLt.so.12", "libnvrtc-builtins.so.12.6", "libcublasLt.so.13", "libnvrtc-builtins.so.13.1");

    private RedistributedLibraries() {}

    /** The library copied out of the artifact, or null if the artifact is not on the class path. */
    static @Nullable Path find(String soname) {
        Path library = copy(soname);
        if (library == null) {
            return null;
        }
        String family = soname.replaceAll("\\.so.*", "");
        for (String companion : COMPANIONS) {
            if (companion.startsWith(family)) {
                copy(companion);
            }
        }
        return library;
    }

    private static @Nullable Path copy(String soname) {
        URL url = RedistributedLibraries.class.getClassLoader().getResource(FOLDER + soname);
        if (url == null) {
            return null;
        }
        String origin =
                Integer.toHexString(url.toString().replaceAll("[^/]*$", "").hashCode());
        try {
            Path cache = PrivateFolder.cache("tp4j.native.cache", "");
            Path folder = PrivateFolder.open(cache.resolve("cuda-redist-" + origin));
            Path file = folder.resolve(soname);
            if (!Files.isRegularFile(file)) {
                LOG.info("copying {} out of the redistributable artifact to {} (once)", soname, folder);
                try (InputStream in = url.openStream()) {
                    AtomicFile.write(file, out -> in.transferTo(Channels.newOutputStream(out)));
                }
            }
            return file;
        } catch (IOException e) {
            LOG.warn("{} cannot be copied out of the redistributable artifact: {}", soname, e.toString());
            return null;
        }
    }
}
