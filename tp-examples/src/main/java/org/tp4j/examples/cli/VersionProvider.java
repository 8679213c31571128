package org.tp4j.examples.cli;

import picocli.CommandLine.IVersionProvider;

/** The text of {@code --version}. */
public final class VersionProvider implements IVersionProvider {
    /** For picocli. */
    public VersionProvider() {}

    /** The version of the jar, or {@code development} without a jar. */
    public static String version() {
        String version = VersionProvider.class.getPackage().getImplementationVersion();
        return version == null ? "development" : version;
    }

    @Override
    public String[] getVersion() {
        return new String[] {"TP4J " + version() + ", Java " + System.getProperty("java.version")};
    }
}
