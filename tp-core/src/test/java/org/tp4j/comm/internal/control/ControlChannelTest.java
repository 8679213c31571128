package org.tp4j.comm.internal.control;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.tp4j.comm.CommunicationException;
import org.tp4j.comm.record.CallRecord;
import org.tp4j.comm.record.Collective;
import org.tp4j.comm.record.CollectiveCall;
import org.tp4j.comm.record.FlightRecorder;

@Timeout(60)
class ControlChannelTest {
    private static final String SECRET = ControlSecret.random();
    private static final String HOST = "127.0.0.1";
    private static final CollectiveCall BARRIER = CollectiveCall.withoutData(Collective.BARRIER);
    private static final long THREE_SECONDS = 3_000_000_000L;

    private final ControlBoard board = new ControlBoard(4);
    private final ControlServer server =
            ControlServer.start(InetAddress.getLoopbackAddress(), 0, ControlSecret.of(SECRET), board);
    private final List<ControlLink> links = new ArrayList<>();

    @AfterEach
    void close() {
        links.forEach(ControlLink::close);
        server.close();
    }

    private ControlLink join(int rank) {
        return join(new FlightRecorder(rank), 20);
    }

    private ControlLink join(FlightRecorder recorder, long periodMs) {
        ControlLink link =
                ControlLink.connect(HOST, server.port(), ControlSecret.of(SECRET), recorder, periodMs, 10_000);
        links.add(link);
        return link;
    }

    /** Until it is so, or the class's timeout. */
    private static void await(BooleanSupplier condition) throws InterruptedException {
        while (!condition.getAsBoolean()) {
            Thread.sleep(5);
        }
    }

    @Test
    void shouldGiveWhatAnotherRankHasSet() {
        ControlLink one = join(0);
        ControlLink two = join(1);
        assertThat(one.get("id")).isEmpty();
        two.set("id", "abc".getBytes(UTF_8));
        assertThat(one.get("id").orElseThrow()).asString(UTF_8).isEqualTo("abc");
        two.set("id", new byte[0]);
        assertThat(one.await("id", 10)).isEmpty();
    }

    @Test
    void shouldWaitForAKey() throws InterruptedException {
        ControlLink setting = join(1);
        Thread setter = new Thread(() -> setting.set("late", "x".getBytes(UTF_8)));
        ControlLink waiting = join(0);
        setter.start();
        assertThat(waiting.await("late", 30_000)).asString(UTF_8).isEqualTo("x");
        assertThatThrownBy(() -> waiting.await("never", 50))
                .isInstanceOf(CommunicationException.class)
                .hasMessageContaining("'never'")
                .hasMessageContaining("within 50 ms");
        setter.join();
    }

    @Test
    void shouldRefuseAnotherJobsSecret() {
        ControlSecret other = ControlSecret.of(ControlSecret.random());
        assertThatThrownBy(() -> ControlLink.connect(HOST, server.port(), other, new FlightRecorder(1), 20, 10_000))
                .isInstanceOf(CommunicationException.class)
                .hasMessageContaining("refuses this process, which has another secret")
                .hasMessageContaining("TP4J_SECRET");
    }

    /** Speaks the protocol without knowing the secret. */
    @Test
    void shouldNotTrustAServerThatDoesNotKnowTheSecret() throws Exception {
        try (ServerSocket listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            Thread fake = new Thread(() -> {
                try (Socket socket = listener.accept()) {
                    socket.getOutputStream().write(SecureConnection.MAGIC);
                    socket.getOutputStream().write(new byte[SecureConnection.NONCE_BYTES]);
                    socket.getInputStream().readNBytes(SecureConnection.NONCE_BYTES + SecureConnection.MAC_BYTES);
                    socket.getOutputStream().write(1);
                    socket.getOutputStream().write(new byte[SecureConnection.MAC_BYTES]);
                    socket.getInputStream().read();
                } catch (java.io.IOException e) {
                    return; // the client has left
                }
            });
            fake.start();
            assertThatThrownBy(() -> ControlLink.connect(
                            HOST, listener.getLocalPort(), ControlSecret.of(SECRET), new FlightRecorder(1), 20, 10_000))
                    .isInstanceOf(CommunicationException.class)
                    .hasMessageContaining("does not know this job's secret");
            fake.join();
        }
    }

    @Test
    void shouldSayThatAnotherProgramListens() throws Exception {
        try (ServerSocket listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            Thread web = new Thread(() -> {
                try (Socket socket = listener.accept()) {
                    socket.getOutputStream().write("HTTP/1.1 400 Bad Request\r\n\r\n".getBytes(UTF_8));
                } catch (java.io.IOException e) {
                    return; // the client has left
                }
            });
            web.start();
            assertThatThrownBy(() -> ControlLink.connect(
                            HOST, listener.getLocalPort(), ControlSecret.of(SECRET), new FlightRecorder(1), 20, 10_000))
                    .hasMessageContaining("another program listens there");
            web.join();
        }
    }

    @Test
    void shouldSayThatNobodyServes() {
        int port = server.port();
        server.close();
        assertThatThrownBy(
                        () -> ControlLink.connect(HOST, port, ControlSecret.of(SECRET), new FlightRecorder(1), 20, 100))
                .isInstanceOf(CommunicationException.class)
                .hasMessageContaining("no control channel at 127.0.0.1:" + port)
                .hasMessageContaining("MASTER_ADDR");
    }

    @Test
    void shouldListenOnTheGivenAddressOnly() throws Exception {
        assertThat(catchThrowable(() -> new Socket("127.0.0.2", server.port()).close()))
                .as("another address of this machine")
                .isInstanceOf(java.net.ConnectException.class);
    }

    @Test
    void shouldRefuseASecondProcessOfARankAndARankThatIsNone() {
        join(1);
        assertThatThrownBy(() -> join(1))
                .isInstanceOf(CommunicationException.class)
                .hasMessageContaining("rank 1 has joined already, from another process; HINT: check that RANK differs");
        assertThatThrownBy(() -> join(4))
                .hasMessageContaining("rank 4 of a job of 4 ranks; HINT: check RANK and WORLD_SIZE");
    }

    @Test
    void shouldLimitWhatARankMayStore() {
        ControlLink link = join(1);
        byte[] big = new byte[ControlBoard.MAX_VALUE_BYTES];
        link.set("0", big);
        link.set("0", big); // in its place
        assertThatThrownBy(() -> {
                    for (int i = 0; i < 20; i++) {
                        link.set("key " + i, big);
                    }
                })
                .isInstanceOf(CommunicationException.class)
                .hasMessageContaining("rank 1 wants to keep")
                .hasMessageContaining("at most 10000 and 16777216");
        assertThatThrownBy(() -> link.set("k".repeat(300), new byte[1])).isInstanceOf(CommunicationException.class);
        join(2).set("mine", big); // others are not concerned
        link.set("0", new byte[0]);
        link.set("small", new byte[1]);
    }

    @Test
    void shouldHaveAnEndOfKeysToo() {
        ControlBoard own = new ControlBoard(1);
        assertThatThrownBy(() -> {
                    for (int i = 0; i <= ControlBoard.MAX_KEYS_PER_RANK; i++) {
                        own.set("key " + i, new byte[0]);
                    }
                })
                .hasMessageContaining("10001 keys");
    }

    @Test
    void shouldPassOnPostsOnceAndInOrderThoughConnectionsBreak() throws InterruptedException {
        List<Integer> received = new CopyOnWriteArrayList<>();
        board.handle("words", (rank, words) -> {
            assertThat(rank).isEqualTo(1);
            int number = ByteBuffer.wrap(words).getInt();
            received.add(number);
            if (number % 100 == 50) {
                links.get(0).breakConnection(); // before the answer, which is lost
            }
        });
        ControlLink link = join(1);
        int posts = 2000;
        for (int i = 0; i < posts; i++) {
            link.post("words", ByteBuffer.allocate(100).putInt(i).array());
            if (i % 100 == 0) {
                Thread.sleep(3);
            }
        }
        link.flush(30_000);
        assertThat(received).hasSize(posts).isSorted().doesNotHaveDuplicates();
        assertThat(board.end(1)).as("a connection that breaks is not an end").isNull();
    }

    /** As after a pause so long that a heartbeat was given up, though it had arrived. */
    @Test
    void shouldDoOnceWhatIsAskedTwice() throws Exception {
        List<Integer> received = new CopyOnWriteArrayList<>();
        board.handle("words", (rank, words) -> received.add((int) words[0]));
        try (Socket socket = new Socket(HOST, server.port())) {
            SecureConnection connection =
                    SecureConnection.open(socket, ControlSecret.of(SECRET), new SecureRandom(), 10_000);
            connection.write(Wire.message(Wire.HELLO, 7, out -> {
                out.writeInt(2);
                Peer.writeSelf(out);
            }));
            connection.read(10_000);
            for (int request = 1; request <= 2; request++) {
                int posts = request;
                connection.write(Wire.message(Wire.BEAT, request, out -> {
                    Wire.writeBytes(out, new byte[0]);
                    out.writeLong(0);
                    out.writeLong(1);
                    out.writeInt(posts);
                    for (int i = 1; i <= posts; i++) {
                        out.writeUTF("words");
                        Wire.writeBytes(out, new byte[] {(byte) i});
                    }
                }));
                connection.read(10_000);
            }
            assertThat(received).containsExactly(1, 2);
            byte[] get = Wire.message(Wire.GET, 3, out -> out.writeUTF("key"));
            connection.write(get);
            byte[] answer = connection.read(10_000);
            board.set("key", new byte[1]);
            connection.write(get); // the same request, as after a connection that broke
            assertThat(connection.read(10_000)).isEqualTo(answer);
        }
    }

    @Test
    void shouldHaveTheAnswerToAPostAfterAFlush() {
        board.handle("ask", (rank, words) -> board.announce("answers", words));
        ControlLink link = join(1);
        ControlLink other = join(2);
        link.post("ask", "me".getBytes(UTF_8));
        link.flush(30_000);
        assertThat(link.notices("answers"))
                .singleElement()
                .satisfies(n -> assertThat(n).asString(UTF_8).isEqualTo("me"));
        other.flush(30_000);
        assertThat(other.notices("answers")).hasSize(1);
        assertThat(other.notices("others")).isEmpty();
    }

    @Test
    void shouldNotBlockWhoPostsWhileNobodyReads() {
        ControlLink link = join(1);
        server.close();
        assertThatThrownBy(() -> {
                    for (int i = 0; i < 1000; i++) {
                        link.post("words", new byte[1 << 16]); // 64 MiB
                    }
                })
                .isInstanceOf(CommunicationException.class)
                .hasMessageContaining("that rank 0 has not taken");
    }

    @Test
    void shouldTellHowARankHasEnded() throws InterruptedException {
        ControlLink one = join(1);
        FlightRecorder recorder = new FlightRecorder(2);
        ControlLink two = join(recorder, 20);
        JobStragglers stragglers = new JobStragglers(one, 1);
        CallRecord second = new CallRecord("world", 1, 2, BARRIER, "");
        recorder.add(new CallRecord("world", 2, 1, BARRIER, ""));
        two.end(RankEnd.Kind.RETURNED, "", 10_000);
        await(() -> one.ends().of(2) != null);
        assertThat(stragglers.failure()).isEmpty();
        assertThat(stragglers.obstacle(second, List.of(0, 1))).isEmpty();
        assertThat(stragglers.obstacle(new CallRecord("world", 1, 1, BARRIER, ""), List.of(1, 2)))
                .as("a call in which it took part")
                .isEmpty();
        assertThat(stragglers.obstacle(second, List.of(1, 2)).orElseThrow())
                .startsWith("rank 2 has returned; rank 1 needs it in call 2 on group 'world': barrier()")
                .contains("rank 2 has made 1 call");
        assertThat(stragglers.report(second, List.of(1, 2), THREE_SECONDS)).contains("; rank 2 has returned (rank 2");
    }

    @Test
    void shouldLetARankLeaveThatMissesTheLastWord() throws InterruptedException {
        ControlLink zero = join(0);
        ControlLink one = join(new FlightRecorder(1), 60_000); // its next heartbeat is far
        zero.end(RankEnd.Kind.RETURNED, "", 10_000);
        one.flush(10_000);
        assertThat(one.ends().of(0)).isNotNull();
        Thread leaving = new Thread(() -> Departure.returned(one, 1, 2, 60_000));
        leaving.start();
        await(() -> board.end(1) != null);
        server.close(); // before it knows that it was the last
        assertThatThrownBy(() -> one.get("a")).isInstanceOf(CommunicationException.class);
        leaving.join(20_000);
        assertThat(leaving.isAlive()).isFalse();
    }

    @Test
    void shouldTellThatAConnectionIsClosedForGood() throws InterruptedException {
        ControlLink one = join(1);
        ControlLink three = join(3);
        long start = System.nanoTime();
        three.close(); // without a word
        await(() -> one.ends().of(3) != null);
        assertThat((System.nanoTime() - start) * 1e-9).isBetween(0.9, 20.0);
        assertThat(new JobStragglers(one, 1).failure().orElseThrow())
                .containsPattern("rank 3 is gone: its connection was closed [0-9.]+ s ago; the process was killed");
        assertThatThrownBy(() -> three.get("a")).isInstanceOf(CommunicationException.class);
    }

    @Test
    void shouldTellThatTheServerIsGone() throws InterruptedException {
        ControlLink link = join(1);
        link.set("a", new byte[1]);
        server.close();
        await(() -> link.ends().of(0) != null);
        assertThat(new JobStragglers(link, 1).failure().orElseThrow())
                .startsWith("rank 0 is gone: it served the control channel, and nobody listens at 127.0.0.1:");
        assertThatThrownBy(() -> link.get("a")).isInstanceOf(CommunicationException.class);
    }

    @Test
    void shouldSurviveABreakOfEveryConnection() {
        ControlLink link = join(1);
        for (int i = 0; i < 30; i++) {
            link.set("round", String.valueOf(i).getBytes(UTF_8));
            link.breakConnection();
            assertThat(link.get("round").orElseThrow()).asString(UTF_8).isEqualTo(String.valueOf(i));
        }
    }

    @Test
    void shouldMakeRoomForHonestClientsAmongStrangers() throws Exception {
        List<Socket> mute = new ArrayList<>();
        try {
            for (int i = 0; i < 3 * ControlServer.MAX_STRANGERS; i++) {
                mute.add(new Socket(HOST, server.port()));
            }
            long start = System.nanoTime();
            join(1).set("a", new byte[1]);
            assertThat((System.nanoTime() - start) * 1e-6)
                    .as("it does not wait for the strangers to be thrown out")
                    .isLessThan(ControlServer.GREETING_MS);
            mute.get(0).setSoTimeout(ControlServer.GREETING_MS / 2);
            assertThat(mute.get(0).getInputStream().readAllBytes())
                    .as("the oldest made room: nothing comes behind its greeting")
                    .hasSizeLessThanOrEqualTo(SecureConnection.MAGIC.length + SecureConnection.NONCE_BYTES);
        } finally {
            for (Socket socket : mute) {
                socket.close();
            }
        }
    }

    /** A listener that is out of descriptors fails at once, again and again. */
    @Test
    void shouldNotSpinWhileItCannotAcceptConnections() throws Exception {
        int failures = 8;
        AtomicInteger accepts = new AtomicInteger();
        ServerSocket exhausted = new ServerSocket(0, 50, InetAddress.getLoopbackAddress()) {
            @Override
            public Socket accept() throws java.io.IOException {
                if (accepts.incrementAndGet() <= failures) {
                    throw new java.net.SocketException("Too many open files");
                }
                return super.accept();
            }
        };
        long start = System.nanoTime();
        try (ControlServer own = ControlServer.start(exhausted, ControlSecret.of(SECRET), new ControlBoard(2));
                ControlLink link = ControlLink.connect(
                        HOST, own.port(), ControlSecret.of(SECRET), new FlightRecorder(1), 20, 30_000)) {
            link.set("a", new byte[1]);
            assertThat((System.nanoTime() - start) * 1e-9)
                    .as("pauses from 10 ms to a second, doubled each time")
                    .isGreaterThan(1);
            assertThat(accepts.get()).isBetween(failures + 1, failures + 10);
        }
    }

    /** A byte every now and then must not keep a connection open. */
    @Test
    void shouldLimitTheTimeToProveOneself() throws Exception {
        try (ServerSocket listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                Socket slow = new Socket(HOST, listener.getLocalPort());
                Socket accepted = listener.accept()) {
            Thread drip = new Thread(() -> {
                try {
                    for (int i = 0; i < 1000; i++) {
                        slow.getOutputStream().write(0);
                        Thread.sleep(20);
                    }
                } catch (java.io.IOException | InterruptedException e) {
                    return; // it was thrown out
                }
            });
            drip.start();
            assertThatThrownBy(
                            () -> SecureConnection.accept(accepted, ControlSecret.of(SECRET), new SecureRandom(), 200))
                    .isInstanceOf(java.net.SocketTimeoutException.class);
            accepted.close();
            drip.join();
        }
    }

    @Test
    void shouldTakeNoFrameTwiceAndNoneThatWasChanged() throws Exception {
        for (String attack : List.of("none", "repeat", "change", "reflect")) {
            try (ServerSocket listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                    Socket client = new Socket(HOST, listener.getLocalPort());
                    Socket accepted = listener.accept()) {
                SecureConnection[] ends = new SecureConnection[1];
                Thread serving = new Thread(() -> {
                    try {
                        ends[0] =
                                SecureConnection.accept(accepted, ControlSecret.of(SECRET), new SecureRandom(), 10_000);
                    } catch (java.io.IOException e) {
                        throw new java.io.UncheckedIOException(e);
                    }
                });
                serving.start();
                SecureConnection mine =
                        SecureConnection.open(client, ControlSecret.of(SECRET), new SecureRandom(), 10_000);
                serving.join();
                mine.write(new byte[] {1, 2, 3});
                byte[] frame = accepted.getInputStream().readNBytes(4 + 3 + SecureConnection.MAC_BYTES);
                // The man in the middle passes it on.
                assertThat(takes(ends[0], accepted, client, frame, attack)).isEqualTo(attack.equals("none"));
            }
        }
    }

    private static boolean takes(SecureConnection receiver, Socket accepted, Socket client, byte[] frame, String attack)
            throws Exception {
        switch (attack) {
            case "repeat" -> {
                client.getOutputStream().write(frame);
                assertThat(receiver.read(10_000)).containsExactly(1, 2, 3);
                client.getOutputStream().write(frame);
            }
            case "change" -> {
                frame[5] ^= 1;
                client.getOutputStream().write(frame);
            }
            case "reflect" -> {
                receiver.write(new byte[] {1, 2, 3});
                InputStream in = client.getInputStream();
                client.getOutputStream().write(in.readNBytes(frame.length));
            }
            default -> client.getOutputStream().write(frame);
        }
        try {
            return receiver.read(10_000).length == 3;
        } catch (java.net.SocketTimeoutException e) {
            throw e;
        } catch (java.io.IOException e) {
            assertThat(e).hasMessageContaining("not authentic");
            return false;
        }
    }

    @Test
    void shouldEscapeWhatComesFromTheNetwork() {
        assertThat(ForeignText.escape("rank 1 \u001b[2J\r\nok \u00e9\u2028x"))
                .isEqualTo("rank 1 \\u001b[2J\\u000d\\u000aok é\\u2028x");
        assertThat(ForeignText.escape("a".repeat(10_000))).hasSize(4003).endsWith("a...");
        String same = "nothing to escape";
        assertThat(ForeignText.escape(same)).isEqualTo(same);
        RankEnd end = new RankEnd(1, RankEnd.Kind.FAILED, "bad \u001b]0;title\u0007", RankStatus.unknown());
        assertThat(ControlBoard.decodeEnd(ControlBoard.encode(end)).describe())
                .isEqualTo("rank 1 has failed: bad \\u001b]0;title\\u0007");
    }

    @Test
    void shouldKeepTheSecretToItself() {
        assertThat(ControlSecret.of(SECRET).toString()).doesNotContain(SECRET);
        assertThat(ControlSecret.random()).isNotEqualTo(ControlSecret.random()).hasSize(64);
        assertThatThrownBy(() -> ControlSecret.of("short"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("openssl rand -hex 32");
    }

    /** Beats come when the scheduler lets them: waits until a report says so, until the class's timeout. */
    private static void awaitReport(JobStragglers own, CallRecord waiting, String pattern) throws InterruptedException {
        Pattern wanted = Pattern.compile(pattern);
        await(() -> wanted.matcher(own.report(waiting, List.of(0, 1), THREE_SECONDS))
                .find());
    }

    @Test
    void shouldTellWhoIsSilentAndWhoIsElsewhere() throws InterruptedException {
        FlightRecorder late = new FlightRecorder(1);
        CallRecord waiting = new CallRecord("world", 0, 2, BARRIER, "layers.1");
        CallRecord first = new CallRecord("world", 1, 1, BARRIER, "");
        first.done();
        late.add(first);
        JobStragglers own = new JobStragglers(join(0), 0);
        String nobody = own.report(waiting, List.of(0, 1), THREE_SECONDS);
        assertThat(nobody)
                .contains("rank 0 has waited 3.0 s in call 2 on group 'world': barrier() in layers.1")
                .contains("rank 1 has not reported yet");
        join(late, 20);
        awaitReport(own, waiting, "rank 1 is elsewhere: rank 1 has made 1 call, the last call 1 on group 'world'");
        late.add(new CallRecord("world", 1, 2, BARRIER, ""));
        awaitReport(own, waiting, "every rank reports that it has reached this call");
    }
}
