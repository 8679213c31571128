package org.tp4j.tests.comm;

import org.tp4j.comm.launch.LaunchOptions;
import org.tp4j.tensor.Device;

/** How the test programs of this package are launched: {@code -Dtp.test.device=cuda} puts their ranks on GPUs. */
final class TestLaunch {
    private static final String DEVICE = "tp.test.device";

    private TestLaunch() {}

    static LaunchOptions options() {
        return LaunchOptions.defaults().withDeviceType(System.getProperty(DEVICE, Device.CPU.type()));
    }
}
