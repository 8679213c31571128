package org.tp4j.cpu.comm;

import java.util.Map;
import java.util.Optional;
import org.tp4j.comm.LaunchOptions;
import org.tp4j.comm.Launcher;
import org.tp4j.comm.RankMain;

/** The launcher {@code threads}. */
public final class ThreadLauncher implements Launcher {
    /** For {@link java.util.ServiceLoader}. */
    public ThreadLauncher() {}

    @Override
    public String name() {
        return "threads";
    }

    @Override
    public boolean serves(String deviceType) {
        return deviceType.equals("cpu");
    }

    @Override
    public Optional<String> unavailable() {
        return Optional.empty();
    }

    @Override
    public boolean launched(Map<String, String> environment) {
        return false;
    }

    @Override
    public void run(LaunchOptions options, RankMain main) {
        ThreadRanks.run(Math.max(1, options.ranks()), options.communication(), main);
    }
}
