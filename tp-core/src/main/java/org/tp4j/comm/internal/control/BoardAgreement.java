package org.tp4j.comm.internal.control;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import org.tp4j.comm.internal.agreement.Comparison;
import org.tp4j.comm.internal.agreement.LedgerChannel;

/** The comparison of the ranks' ledgers over the control channel: it lies with the {@link ControlBoard}. */
public final class BoardAgreement {
    private static final String COMPARED = "agreement/compared";

    private BoardAgreement() {}

    /** Compares what the ranks post on a board. */
    static void serve(ControlBoard board) {
        Comparison comparison = new Comparison(
                board.ranks(),
                text -> board.announce(
                        LedgerChannel.TOPIC, ForeignText.escape(text).getBytes(StandardCharsets.UTF_8)),
                window -> board.set(
                        COMPARED,
                        ByteBuffer.allocate(Long.BYTES).putLong(window).array()));
        board.handle(LedgerChannel.TOPIC, comparison::posted);
    }

    /** A rank's way to the comparison. */
    public static LedgerChannel over(ControlChannel channel) {
        return new LedgerChannel() {
            @Override
            public void post(byte[] word) {
                channel.post(TOPIC, word);
            }

            @Override
            public void flush(long timeoutMs) {
                channel.flush(timeoutMs);
            }

            @Override
            public Optional<String> disagreement() {
                List<byte[]> found = channel.notices(TOPIC);
                return found.isEmpty()
                        ? Optional.empty()
                        : Optional.of(new String(found.get(0), StandardCharsets.UTF_8));
            }

            @Override
            public long comparedWindow() {
                return channel.get(COMPARED)
                        .map(bytes -> ByteBuffer.wrap(bytes).getLong())
                        .orElse(-1L);
            }
        };
    }
}
