package org.tp4j.cudasim;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.JarURLConnection;
import java.net.URL;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tp4j.tensor.internal.PrivateFolder;

/** Builds the simulator from the sources in this jar, once per user and version of these. */
final class SimulatorBuild {
    private static final Logger LOG = LoggerFactory.getLogger(SimulatorBuild.class);
    private static final String INDEX = "sources.txt";
    private static final String SCRIPT = "build.sh";
    private static final int TIMEOUT_MINUTES = 10;

    private SimulatorBuild() {}

    static Path run() {
        if (!System.getProperty("os.name", "").equals("Linux")
                || !System.getProperty("os.arch", "").equals("amd64")) {
            throw new CudaSimulatorException("the CUDA simulator is for Linux on x86_64, this is "
                    + System.getProperty("os.name") + " on " + System.getProperty("os.arch"));
        }
        try {
            TreeMap<String, byte[]> files = sources();
            Path folder = cache().resolve(hash(files));
            if (!Files.exists(folder.resolve("libnccl.so.2"))) {
                build(files, folder);
            }
            return folder;
        } catch (IOException e) {
            throw new CudaSimulatorException(
                    "the CUDA simulator cannot be built: " + e + "; HINT: -D" + CudaSimulator.CACHE
                            + "=FOLDER names another folder to build it in",
                    e);
        }
    }

    /** Its libraries are loaded, so nobody else may write to it. */
    private static Path cache() throws IOException {
        return PrivateFolder.cache(CudaSimulator.CACHE, "cudasim");
    }

    /** The build script and the C++ sources by name; an index lists them, since a jar's folders cannot be walked. */
    private static TreeMap<String, byte[]> sources() throws IOException {
        TreeMap<String, byte[]> files = new TreeMap<>();
        files.put(SCRIPT, resource(SCRIPT));
        String index = new String(resource(INDEX), StandardCharsets.UTF_8);
        for (String name : index.lines().filter(line -> !line.isBlank()).toList()) {
            files.put("sources/" + name, resource("sources/" + name));
        }
        return files;
    }

    private static byte[] resource(String name) throws IOException {
        try (InputStream in = SimulatorBuild.class.getResourceAsStream(name)) {
            if (in == null) {
                throw new IOException("the jar lacks " + name);
            }
            return in.readAllBytes();
        }
    }

    private static String hash(TreeMap<String, byte[]> files) {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            files.forEach((name, content) -> {
                digest.update(name.getBytes(StandardCharsets.UTF_8));
                digest.update(content);
            });
            return HexFormat.of().formatHex(digest.digest(), 0, 8);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e); // every JDK has it
        }
    }

    /** One process builds, others wait for it. */
    private static void build(TreeMap<String, byte[]> files, Path folder) throws IOException {
        Files.createDirectories(folder);
        try (FileChannel channel = FileChannel.open(
                        folder.resolve("build.lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
                FileLock lock = channel.lock()) {
            if (!lock.isValid() || Files.exists(folder.resolve("libnccl.so.2"))) {
                return;
            }
            LOG.info("building the CUDA simulator in {} (first use)", folder);
            for (var file : files.entrySet()) {
                Path target = folder.resolve(file.getKey());
                Files.createDirectories(target.getParent());
                Path part = Files.createTempFile(target.getParent(), "part", "");
                Files.write(part, file.getValue());
                Files.move(part, target, StandardCopyOption.REPLACE_EXISTING);
            }
            runScript(folder);
        }
    }

    private static void runScript(Path folder) throws IOException {
        List<String> command = List.of(
                "sh",
                folder.resolve(SCRIPT).toString(),
                folder.resolve("sources").toString(),
                folder.toString(),
                jarOf("lib/libJCudaDriver-12.6.0-linux-x86_64.so"),
                jarOf("lib/libJCublas2-12.6.0-linux-x86_64.so"));
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
        Process process = builder.start();
        List<String> output = new ArrayList<>();
        try (BufferedReader lines =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                output.add(line);
            }
            if (!process.waitFor(TIMEOUT_MINUTES, TimeUnit.MINUTES)) {
                process.destroyForcibly();
            }
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
        if (!Files.exists(folder.resolve("libnccl.so.2"))) {
            throw new CudaSimulatorException("the CUDA simulator cannot be built: " + String.join("\n", output)
                    + "; HINT: it needs g++ (Debian, Ubuntu: apt-get install g++) and a JDK, not a JRE");
        }
    }

    /** The jar that holds a file of JCuda's natives. */
    private static String jarOf(String resource) throws IOException {
        URL url = SimulatorBuild.class.getClassLoader().getResource(resource);
        if (url == null || !(url.openConnection() instanceof JarURLConnection connection)) {
            throw new IOException("there is no jar with " + resource + " on the class path");
        }
        return Path.of(connection.getJarFileURL().getPath()).toString();
    }
}
