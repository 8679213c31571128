package org.tp4j.tests.comm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.io.File;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.Collections;
import java.util.Enumeration;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.tp4j.comm.engine.GroupEngines;
import org.tp4j.comm.launch.Launch;
import org.tp4j.mpi.MpiLauncher;
import org.tp4j.tensor.Backends;

/** Backends, launchers and engines are found from every class loader, or the message says why not. */
class ServiceLookupTest {
    /** All classes of the test class path anew, as a plug-in's class loader or a merged jar would have them. */
    private static final class Copy extends URLClassLoader {
        private final boolean services;

        Copy(boolean services) {
            super(classPath(), ClassLoader.getPlatformClassLoader());
            this.services = services;
        }

        private static URL[] classPath() {
            String[] entries = System.getProperty("java.class.path").split(File.pathSeparator, -1);
            URL[] urls = new URL[entries.length];
            try {
                for (int i = 0; i < entries.length; i++) {
                    urls[i] = Path.of(entries[i]).toUri().toURL();
                }
            } catch (MalformedURLException e) {
                throw new IllegalArgumentException(e);
            }
            return urls;
        }

        @Override
        public Enumeration<URL> findResources(String name) throws IOException {
            return !services && name.startsWith("META-INF/services/org.tp4j.")
                    ? Collections.emptyEnumeration()
                    : super.findResources(name);
        }

        Object call(String type, String method, Object... arguments) throws Throwable {
            Class<?>[] types = new Class<?>[arguments.length];
            java.util.Arrays.fill(types, String.class);
            Thread thread = Thread.currentThread();
            ClassLoader before = thread.getContextClassLoader();
            thread.setContextClassLoader(this);
            try {
                return Class.forName(type, true, this).getMethod(method, types).invoke(null, arguments);
            } catch (InvocationTargetException e) {
                throw e.getCause();
            } finally {
                thread.setContextClassLoader(before);
            }
        }
    }

    @Test
    void shouldFindEverythingFromAThreadWhoseClassLoaderKnowsNothing() throws InterruptedException {
        Thread thread = new Thread(() -> {
            assertThat(Backends.availability()).containsKeys("cpu", "cuda");
            assertThat(Launch.availability()).containsKeys("threads", "mpi", "env");
            assertThat(GroupEngines.availability()).containsKeys("nccl");
            assertThat(Backends.provider("cpu").deviceCount()).isOne();
        });
        thread.setContextClassLoader(ClassLoader.getPlatformClassLoader());
        Throwable[] failure = new Throwable[1];
        thread.setUncaughtExceptionHandler((t, e) -> failure[0] = e);
        thread.start();
        thread.join();
        assertThat(failure[0]).isNull();
    }

    /** The context class loader finds providers of its own copy, which this copy cannot use, and this copy's loader its own. */
    @Test
    void shouldFindItsOwnBesideAnotherCopy() throws IOException {
        Thread current = Thread.currentThread();
        ClassLoader before = current.getContextClassLoader();
        try (Copy other = new Copy(true)) {
            current.setContextClassLoader(other);
            assertThat(Backends.provider("cpu").deviceCount()).isOne();
            assertThat(catchThrowable(() -> Backends.provider("tpu")))
                    .hasMessageContaining("no backend for device type 'tpu'")
                    .hasMessageContaining("not a subtype")
                    .hasMessageContaining("HINT: add the dependency org.tp4j:tp-tpu");
        } finally {
            current.setContextClassLoader(before);
        }
    }

    @Test
    void shouldNameTheFileThatAMergedJarLacks() throws IOException {
        try (Copy merged = new Copy(false)) {
            assertThat(catchThrowable(() -> merged.call("org.tp4j.tensor.Backends", "provider", "cpu")))
                    .hasMessageContaining("no backend for device type 'cpu' on the class path: found []")
                    .hasMessageContaining(
                            "the class org.tp4j.cpu.CpuBackendProvider is there, but no file"
                                    + " META-INF/services/org.tp4j.tensor.BackendProvider names it; HINT: where jars are merged")
                    .hasMessageContaining("ServicesResourceTransformer");
            assertThat(catchThrowable(() -> merged.call(Runner.class.getName(), "run", "threads")))
                    .hasMessageContaining("no launcher 'threads'")
                    .hasMessageContaining("META-INF/services/org.tp4j.comm.launch.Launcher names it");
        }
    }

    /** Runs a program with a launcher. */
    public static final class Runner {
        private Runner() {}

        /** Runs. */
        public static void run(String launcher) {
            Launch.run(org.tp4j.comm.launch.LaunchOptions.defaults().withLauncher(launcher), world -> {});
        }

        /** Why MPI cannot be used. */
        public static String mpi() {
            return new MpiLauncher().unavailable().orElse("");
        }
    }

    @Test
    void shouldSayThatAnotherClassLoaderHasTheNativeLibrary() throws Throwable {
        Optional<String> here = new MpiLauncher().unavailable();
        org.junit.jupiter.api.Assumptions.assumeFalse(
                here.orElse("").contains("tp4j_mpi"), "this module was built without a C compiler");
        try (Copy second = new Copy(true)) {
            assertThat(second.call(Runner.class.getName(), "mpi"))
                    .asString()
                    .contains("libtp4j_mpi.so is loaded by another class loader of this process already")
                    .contains("HINT: load TP4J's jars by one class loader that all its users share")
                    .doesNotContain("gcc");
        }
    }
}
