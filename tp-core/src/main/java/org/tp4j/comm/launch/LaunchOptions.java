package org.tp4j.comm.launch;

import java.util.Locale;
import org.tp4j.comm.CommunicationOptions;
import org.tp4j.tensor.Device;

/**
 * How to start ranks.
 *
 * @param launcher {@code threads}, {@code mpi}, {@code env}, or {@code auto}: whatever launched this process, otherwise threads
 * @param ranks number of ranks, or 0 for as many as were launched (one if this process was started alone)
 * @param deviceType type of the ranks' devices, {@code cpu} or {@code cuda}
 * @param communication settings of the collectives
 */
public record LaunchOptions(String launcher, int ranks, String deviceType, CommunicationOptions communication) {
    /** Chooses the launcher according to what launched this process. */
    public static final String AUTO = "auto";

    /** Checks the values. */
    public LaunchOptions {
        if (ranks < 0) {
            throw new IllegalArgumentException(
                    ranks + " ranks were requested; HINT: 0 stands for as many as were launched");
        }
        launcher = launcher.toLowerCase(Locale.ROOT);
    }

    /** Launcher {@code auto}, as many ranks as were launched, on the CPU, settings from the system properties. */
    public static LaunchOptions defaults() {
        return new LaunchOptions(AUTO, 0, Device.CPU.type(), CommunicationOptions.fromSystem());
    }

    /** With another launcher. */
    public LaunchOptions withLauncher(String name) {
        return new LaunchOptions(name, ranks, deviceType, communication);
    }

    /** With another number of ranks. */
    public LaunchOptions withRanks(int number) {
        return new LaunchOptions(launcher, number, deviceType, communication);
    }

    /** With another device type. */
    public LaunchOptions withDeviceType(String type) {
        return new LaunchOptions(launcher, ranks, type, communication);
    }

    /** With other settings of the collectives. */
    public LaunchOptions withCommunication(CommunicationOptions settings) {
        return new LaunchOptions(launcher, ranks, deviceType, settings);
    }
}
