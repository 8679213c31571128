package org.tp4j.threads;

import java.util.Map;
import java.util.Optional;
import org.tp4j.comm.launch.LaunchOptions;
import org.tp4j.comm.launch.Launcher;
import org.tp4j.comm.launch.RankMain;

/** The launcher {@code threads}: ranks on the CPU, or on devices, their own or shared ({@link ThreadRanks}). */
public final class ThreadLauncher implements Launcher {
    /** For {@link java.util.ServiceLoader}. */
    public ThreadLauncher() {}

    @Override
    public String name() {
        return "threads";
    }

    @Override
    public boolean serves(String deviceType) {
        return true;
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
        ThreadRanks.call(options.deviceType(), Math.max(1, options.ranks()), options.communication(), world -> {
            main.run(world);
            return true;
        });
    }
}
