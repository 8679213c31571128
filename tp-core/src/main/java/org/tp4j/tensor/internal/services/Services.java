package org.tp4j.tensor.internal.services;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Implementations of a service interface: those that the thread's context class loader finds, and those that the library's own
 * finds. A thread of a pool, or a plug-in in a class loader of its own, sees only part of what there is by the first.
 */
public final class Services {
    private Services() {}

    /** The implementations; those that the context class loader finds come first. */
    public static <S> List<S> load(Class<S> service) {
        return new ArrayList<>(find(service, new ArrayList<>()).values());
    }

    private static <S> Map<Class<?>, S> find(Class<S> service, List<String> problems) {
        Map<Class<?>, S> found = new LinkedHashMap<>();
        for (ClassLoader loader : loaders(service)) {
            Iterator<S> each = ServiceLoader.load(service, loader).iterator();
            while (true) {
                try {
                    if (!each.hasNext()) {
                        break;
                    }
                    S provider = each.next();
                    found.putIfAbsent(provider.getClass(), provider);
                } catch (ServiceConfigurationError e) {
                    // A class that is missing, or of another copy of the library: the others may be fine.
                    problems.add(String.valueOf(e.getMessage()));
                }
            }
        }
        return found;
    }

    private static Set<ClassLoader> loaders(Class<?> service) {
        Set<ClassLoader> loaders = new LinkedHashSet<>();
        ClassLoader context = Thread.currentThread().getContextClassLoader();
        if (context != null) {
            loaders.add(context);
        }
        ClassLoader own = service.getClassLoader();
        loaders.add(own == null ? ClassLoader.getSystemClassLoader() : own);
        return loaders;
    }

    /**
     * Why an implementation that should be there is not found, for messages, and what helps: its class is there, but no service
     * file names it, as in jars that were merged; or it is named and cannot be loaded; or it is not there at all.
     *
     * @param implementation name of its class
     * @param otherwise what helps if it is not there at all
     */
    public static String explain(Class<?> service, @Nullable String implementation, String otherwise) {
        List<String> problems = new ArrayList<>();
        boolean found = find(service, problems).keySet().stream()
                .anyMatch(type -> type.getName().equals(implementation));
        String trouble = problems.isEmpty() ? "" : "; not loaded: " + String.join("; ", new LinkedHashSet<>(problems));
        if (implementation != null && !found && isThere(service, implementation)) {
            return trouble + "; the class " + implementation + " is there, but no file META-INF/services/"
                    + service.getName()
                    + " names it; HINT: where jars are merged, these files must be merged too (Maven"
                    + " Shade: ServicesResourceTransformer; Gradle Shadow: mergeServiceFiles)";
        }
        return trouble + "; HINT: " + otherwise;
    }

    private static boolean isThere(Class<?> service, String implementation) {
        for (ClassLoader loader : loaders(service)) {
            try {
                Class<?> type = Class.forName(implementation, false, loader);
                if (service.isAssignableFrom(type)) {
                    return true;
                }
            } catch (ClassNotFoundException | LinkageError e) {
                continue; // not by this one
            }
        }
        return false;
    }
}
