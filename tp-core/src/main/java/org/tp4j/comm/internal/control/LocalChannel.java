package org.tp4j.comm.internal.control;

import java.util.List;
import java.util.Optional;

/** The control channel of a rank that is a thread of this JVM: the job's board itself. */
public final class LocalChannel implements ControlChannel {
    private final ControlBoard board;
    private final int rank;

    /** A rank's way to a board. */
    public LocalChannel(ControlBoard board, int rank) {
        this.board = board;
        this.rank = rank;
    }

    @Override
    public void set(String key, byte[] value) {
        board.set(rank, key, value);
    }

    @Override
    public Optional<byte[]> get(String key) {
        return board.get(key);
    }

    @Override
    public byte[] await(String key, long timeoutMs) {
        return board.await(key, timeoutMs);
    }

    @Override
    public void post(String topic, byte[] words) {
        board.post(rank, topic, words);
    }

    @Override
    public void flush(long timeoutMs) {}

    @Override
    public List<byte[]> notices(String topic) {
        return board.noticesAfter(0, Integer.MAX_VALUE).stream()
                .filter(notice -> notice.topic().equals(topic))
                .map(ControlBoard.Notice::content)
                .toList();
    }
}
