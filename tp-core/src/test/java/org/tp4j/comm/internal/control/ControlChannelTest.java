package org.tp4j.comm.internal.control;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.tp4j.comm.CommunicationException;
import org.tp4j.comm.record.CallRecord;
import org.tp4j.comm.record.Collective;
import org.tp4j.comm.record.CollectiveCall;
import org.tp4j.comm.record.FlightRecorder;

@Timeout(30)
class ControlChannelTest {
    private static final String SECRET = ControlSecret.random();
    private static final String HOST = "127.0.0.1";

    private final ControlServer server =
            ControlServer.start(InetAddress.getLoopbackAddress(), 0, ControlSecret.of(SECRET));

    @AfterEach
    void close() {
        server.close();
    }

    private ControlClient client() {
        return ControlClient.connect(HOST, server.port(), ControlSecret.of(SECRET), 5_000);
    }

    @Test
    void shouldGiveWhatAnotherRankHasSet() {
        try (ControlClient one = client();
                ControlClient two = client()) {
            assertThat(one.get("id")).isEmpty();
            two.set("id", "abc".getBytes(UTF_8));
            assertThat(one.get("id").orElseThrow()).asString(UTF_8).isEqualTo("abc");
            two.set("id", new byte[0]);
            assertThat(one.await("id", 10)).isEmpty();
        }
    }

    @Test
    void shouldWaitForAKey() throws InterruptedException {
        Thread setter = new Thread(() -> {
            try (ControlClient client = client()) {
                Thread.sleep(100);
                client.set("late", "x".getBytes(UTF_8));
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        setter.start();
        try (ControlClient client = client()) {
            assertThat(client.await("late", 10_000)).asString(UTF_8).isEqualTo("x");
            assertThatThrownBy(() -> client.await("never", 50))
                    .isInstanceOf(CommunicationException.class)
                    .hasMessageContaining("'never'")
                    .hasMessageContaining("within 50 ms");
        }
        setter.join();
    }

    @Test
    void shouldListByPrefixWithAges() throws InterruptedException {
        try (ControlClient client = client()) {
            client.set("beat/0", "a".getBytes(UTF_8));
            client.set("beat/1", "b".getBytes(UTF_8));
            client.set("other", "c".getBytes(UTF_8));
            Thread.sleep(50);
            List<ControlClient.Entry> beats = client.list("beat/");
            assertThat(beats).extracting(ControlClient.Entry::key).containsExactly("beat/0", "beat/1");
            assertThat(beats.get(0).ageMs()).isBetween(40L, 20_000L);
        }
    }

    @Test
    void shouldRefuseAnotherJobsSecret() {
        ControlSecret other = ControlSecret.of(ControlSecret.random());
        assertThatThrownBy(() -> ControlClient.connect(HOST, server.port(), other, 1_000))
                .isInstanceOf(CommunicationException.class)
                .hasMessageContaining("another job's secret");
    }

    @Test
    void shouldSurviveStrangersAndNonsense() throws Exception {
        try (Socket mute = new Socket(HOST, server.port());
                Socket babbler = new Socket(HOST, server.port())) {
            assertThat(mute.isConnected()).isTrue();
            babbler.getOutputStream().write(new byte[4096]);
            assertThat(babbler.getInputStream().readNBytes(17)).hasSizeLessThanOrEqualTo(16); // a challenge, no welcome
        }
        try (Socket member = new Socket(HOST, server.port())) {
            DataInputStream in = new DataInputStream(member.getInputStream());
            DataOutputStream out = new DataOutputStream(member.getOutputStream());
            byte[] challenge = in.readNBytes(16);
            out.write(ControlSecret.of(SECRET).answer(challenge));
            assertThat(in.read()).isEqualTo(1);
            out.writeByte(ControlServer.SET);
            out.writeUTF("huge");
            out.writeInt(Integer.MAX_VALUE); // refused before any memory is taken
            assertThat(in.read()).isEqualTo(-1);
        }
        try (ControlClient client = client()) {
            assertThat(client.get("huge")).isEmpty();
        }
    }

    @Test
    void shouldSayThatNobodyServes() {
        int port = server.port();
        server.close();
        assertThatThrownBy(() -> ControlClient.connect(HOST, port, ControlSecret.of(SECRET), 100))
                .isInstanceOf(CommunicationException.class)
                .hasMessageContaining("no control channel at 127.0.0.1:" + port)
                .hasMessageContaining("MASTER_ADDR");
    }

    @Test
    void shouldSayThatTheServerIsGone() {
        try (ControlClient client = client()) {
            client.set("a", new byte[1]);
            server.close();
            assertThatThrownBy(() -> client.get("a"))
                    .isInstanceOf(CommunicationException.class)
                    .hasMessageContaining("(rank 0) does not answer");
        }
    }

    @Test
    void shouldKeepTheSecretToItself() {
        assertThat(ControlSecret.of(SECRET).toString()).doesNotContain(SECRET);
        assertThat(ControlSecret.random()).isNotEqualTo(ControlSecret.random()).hasSize(64);
        assertThatThrownBy(() -> ControlSecret.of("short")).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void shouldTellWhoIsSilentAndWhoIsElsewhere() throws InterruptedException {
        CollectiveCall barrier = CollectiveCall.withoutData(Collective.BARRIER);
        FlightRecorder mine = new FlightRecorder(0);
        FlightRecorder late = new FlightRecorder(1);
        CallRecord waiting = new CallRecord("world", 0, 2, barrier, "layers.1");
        late.add(new CallRecord("world", 1, 1, barrier, ""));
        try (ControlClient client = client();
                ControlClient other = client();
                Heartbeat own = new Heartbeat(client, mine, 20)) {
            String nobody = own.report(waiting, List.of(0, 1), 3_000_000_000L);
            assertThat(nobody)
                    .contains("rank 0 has waited 3.0 s in call 2 on group 'world': barrier() in layers.1")
                    .contains("rank 1 has sent no heartbeat");
            try (Heartbeat beat = new Heartbeat(other, late, 20)) {
                assertThat(beat).isNotNull();
                Thread.sleep(100);
                assertThat(own.report(waiting, List.of(0, 1), 3_000_000_000L))
                        .contains("rank 1 is elsewhere: rank 1 has made 1 call, the last call 1 on group 'world'");
                late.add(new CallRecord("world", 1, 2, barrier, ""));
                Thread.sleep(100);
                assertThat(own.report(waiting, List.of(0, 1), 3_000_000_000L))
                        .contains("every rank reports that it has reached this call");
            }
            Thread.sleep(300);
            assertThat(own.report(waiting, List.of(0, 1), 3_000_000_000L))
                    .containsPattern("rank 1 has been silent for 0\\.[0-9] s: rank 1 has made 2 calls");
        }
    }
}
