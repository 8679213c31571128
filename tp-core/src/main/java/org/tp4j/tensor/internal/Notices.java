package org.tp4j.tensor.internal;

import org.slf4j.ILoggerFactory;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.helpers.NOPLoggerFactory;

/**
 * Warnings that must reach a user who has chosen no logging, since what they tell costs much speed: through SLF4J where it has
 * a provider, otherwise as a line on the error output.
 */
public final class Notices {
    private Notices() {}

    /** Warns in one line. */
    public static void warn(Class<?> source, String message) {
        ILoggerFactory factory = LoggerFactory.getILoggerFactory();
        if (factory instanceof NOPLoggerFactory) {
            System.err.println("TP4J: " + message);
        } else {
            Logger log = factory.getLogger(source.getName());
            log.warn("{}", message);
        }
    }
}
