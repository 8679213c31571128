package org.tp4j.tests.comm;

import org.tp4j.comm.launch.LaunchOptions;
import org.tp4j.tensor.Device;

/** How the test programs of this package are launched: {@code -Dtp.test.device=cuda} puts their ranks on GPUs, {@code
 * -Dtp.test.threads=N} makes them threads. */
final class TestLaunch {
    private static final String DEVICE = "tp.test.device";
    private static final String RANKS = "tp.test.threads";

    private TestLaunch() {}

    static LaunchOptions options() {
        LaunchOptions options = LaunchOptions.defaults().withDeviceType(System.getProperty(DEVICE, Device.CPU.type()));
        int threads = Integer.getInteger(RANKS, 0);
        return threads == 0 ? options : options.withLauncher("threads").withRanks(threads);
    }
}
