package org.tp4j.comm.internal.control;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tp4j.comm.record.FlightRecorder;

/**
 * Nonsense of all kinds for the server of the control channel: from strangers, in greetings, in raw frames, and in the
 * requests of a rank that knows the secret. It survives, stays within its bounds, and serves honest ranks meanwhile.
 */
@Timeout(120)
class ControlFuzzTest {
    private static final ControlSecret SECRET = ControlSecret.of(ControlSecret.random());
    private static final String HOST = "127.0.0.1";
    private static final int ATTACKER = 2;
    private static final int ROUNDS = 150;

    private final List<byte[]> heard = new ArrayList<>(); // whole frames, to be repeated
    private long requests;

    @ParameterizedTest(name = "seed {0}")
    @ValueSource(longs = {1, 2, 3})
    void shouldSurviveNonsenseAndServeHonestRanks(long seed) throws Exception {
        Random random = new Random(seed);
        ControlBoard board = new ControlBoard(3);
        List<Throwable> uncaught = new java.util.concurrent.CopyOnWriteArrayList<>();
        Thread.UncaughtExceptionHandler before = Thread.getDefaultUncaughtExceptionHandler();
        Thread.setDefaultUncaughtExceptionHandler((thread, e) -> uncaught.add(e));
        try (ControlServer server = ControlServer.start(InetAddress.getLoopbackAddress(), 0, SECRET, board);
                ControlLink honest =
                        ControlLink.connect(HOST, server.port(), SECRET, new FlightRecorder(0), 20, 30_000)) {
            for (int round = 0; round < ROUNDS; round++) {
                try (Socket socket = new Socket(HOST, server.port())) {
                    attack(socket, random);
                } catch (IOException e) {
                    continue; // thrown out
                }
                byte[] value = String.valueOf(round).getBytes(UTF_8);
                honest.set("round", value);
                assertThat(honest.get("round"))
                        .as("seed %d, round %d", seed, round)
                        .hasValue(value);
            }
            honest.flush(30_000);
            assertThat(board.end(0)).as("the honest rank").isNull();
            assertThat(uncaught).as("seed %d", seed).isEmpty();
        } finally {
            Thread.setDefaultUncaughtExceptionHandler(before);
        }
    }

    private void attack(Socket socket, Random random) throws IOException {
        switch (random.nextInt(3)) {
            case 0 -> socket.getOutputStream().write(bytes(random, random.nextInt(5000)));
            case 1 -> {
                SecureConnection connection = greet(socket, random);
                for (int i = 0; i < 5; i++) {
                    socket.getOutputStream().write(rawFrame(random)); // past the connection's own numbers and hashes
                }
                connection.write(new byte[1]);
            }
            default -> {
                SecureConnection connection = greet(socket, random);
                for (int i = 1; i <= 10; i++) {
                    connection.write(mutate(request(++requests, random), random));
                    connection.read(2_000);
                }
            }
        }
    }

    /** Knows the secret, and mostly says a proper hello. */
    private static SecureConnection greet(Socket socket, Random random) throws IOException {
        SecureConnection connection = SecureConnection.open(socket, SECRET, new SecureRandom(), 5_000);
        byte[] hello = Wire.message(Wire.HELLO, 7, out -> {
            out.writeInt(ATTACKER);
            out.writeLong(1);
            out.writeUTF("host \u001b[31m");
        });
        connection.write(random.nextInt(4) == 0 ? mutate(hello, random) : hello);
        connection.read(5_000);
        return connection;
    }

    private byte[] rawFrame(Random random) {
        if (!heard.isEmpty() && random.nextInt(3) == 0) {
            return heard.get(random.nextInt(heard.size()));
        }
        int length = random.nextInt(200);
        int claimed = random.nextInt(3) == 0 ? random.nextInt() : length;
        ByteBuffer frame = ByteBuffer.allocate(4 + length + SecureConnection.MAC_BYTES);
        frame.putInt(claimed).put(bytes(random, length + SecureConnection.MAC_BYTES));
        heard.add(frame.array());
        return frame.array();
    }

    private static byte[] request(long number, Random random) {
        byte kind = (byte) (random.nextInt(10) == 0 ? random.nextInt(256) : Wire.SET + random.nextInt(5));
        return Wire.message(kind, number, out -> {
            switch (kind) {
                case Wire.SET -> {
                    out.writeUTF("attack " + random.nextInt(20_000));
                    if (random.nextInt(4) == 0) {
                        out.writeInt(
                                random.nextBoolean()
                                        ? Integer.MAX_VALUE - 8
                                        : random.nextInt()); // longer than the message, or negative
                    }
                    Wire.writeBytes(out, bytes(random, random.nextInt(1000)));
                }
                case Wire.GET -> out.writeUTF("round");
                case Wire.SEEN -> out.writeInt(random.nextInt());
                case Wire.BEAT -> {
                    Wire.writeBytes(out, bytes(random, random.nextInt(1000)));
                    out.writeLong(random.nextLong());
                    out.writeLong(1);
                    out.writeInt(random.nextInt(4) == 0 ? Integer.MAX_VALUE : 0);
                }
                default -> Wire.writeBytes(out, bytes(random, random.nextInt(50)));
            }
        });
    }

    /** Bits flipped, ends cut off, rubbish appended, or nothing. */
    private static byte[] mutate(byte[] message, Random random) {
        byte[] mutated = message.clone();
        switch (random.nextInt(4)) {
            case 0 -> mutated[random.nextInt(mutated.length)] ^= (byte) (1 << random.nextInt(8));
            case 1 -> mutated = Arrays.copyOf(mutated, random.nextInt(mutated.length));
            case 2 -> mutated = Arrays.copyOf(mutated, mutated.length + random.nextInt(100));
            default -> {}
        }
        return mutated;
    }

    private static byte[] bytes(Random random, int length) {
        byte[] bytes = new byte[length];
        random.nextBytes(bytes);
        return bytes;
    }
}
