package org.tp4j.comm.internal.agreement;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tp4j.comm.CommunicationException;
import org.tp4j.comm.DisagreementException;

/**
 * What one rank has done that the others must have done as well: its collectives, group by group, in order; and facts about
 * sets of ranks, in any order within a step. At the end of each step it posts them as {@link Word}s and goes on; what the
 * comparison finds is thrown later, at the next step, or before a save and the end.
 *
 * <p>Used by the rank's thread; other threads of the rank may add to it.
 */
public final class Ledger {
    /** How long a rank waits for the others before it goes on without their words. */
    public static final long SETTLE_MS = 5_000;

    /** The window of the last word of a rank that leaves. */
    static final long LEFT = Long.MAX_VALUE;

    private static final Logger LOG = LoggerFactory.getLogger(Ledger.class);
    private static final int MOST_NAMES = 1 << 16;
    private static final int MOST_NAME_CHARS = 300;
    private static final long POLL_MS = 1;

    private final int worldRank;
    private final Map<String, CallStream> streams = new LinkedHashMap<>();
    private final Map<List<Integer>, FactSheet> sheets = new LinkedHashMap<>();
    private final Map<String, Integer> opened = new HashMap<>();
    private final Set<Long> named = new HashSet<>();
    private final Map<Long, String> newNames = new LinkedHashMap<>();
    private long window;
    private long steps;
    private volatile @Nullable LedgerChannel channel;
    private long nanos;

    /** A ledger that is off until it is connected. */
    public Ledger(int worldRank) {
        this.worldRank = worldRank;
    }

    /** Begins to post. */
    public void connect(LedgerChannel to) {
        channel = to;
    }

    /** Whether anything is compared. */
    public boolean isOn() {
        return channel != null;
    }

    /** The stream of a new group. Every member opens its groups in the same order. */
    public synchronized CallStream open(String group, List<Integer> worldRanks) {
        String plain = group + worldRanks;
        int number = opened.merge(plain, 1, Integer::sum);
        String key = number == 1 ? plain : plain + "#" + number;
        CallStream stream = new CallStream(this, key, worldRanks);
        if (worldRanks.size() > 1) {
            streams.put(key, stream);
        }
        return stream;
    }

    /** A group is closed: what was called on it is posted, and no more is expected. */
    public synchronized void close(CallStream stream) {
        if (isOn() && !stream.isEmpty()) {
            postCalls();
        }
        streams.remove(stream.key());
    }

    /** The facts about a set of ranks, of which this is one. */
    public synchronized FactSheet facts(List<Integer> worldRanks) {
        return sheets.computeIfAbsent(List.copyOf(worldRanks), ranks -> new FactSheet(this, ranks.toString(), ranks));
    }

    /** Remembers what a label stands for, to be sent along once. */
    void name(long label, Object text) {
        if (named.add(label)) {
            if (named.size() > MOST_NAMES) {
                named.clear();
                named.add(label);
            }
            String full = text.toString();
            newNames.put(label, full.length() > MOST_NAME_CHARS ? full.substring(0, MOST_NAME_CHARS) + "..." : full);
        }
    }

    /**
     * Ends a step: posts what was done in it, and throws what is known of earlier ones. Does not wait.
     *
     * @throws DisagreementException if ranks were found to disagree
     */
    public void endStep() {
        if (isOn()) {
            long start = System.nanoTime();
            synchronized (this) {
                steps++;
                post(steps, true);
                window++;
            }
            nanos += System.nanoTime() - start;
            check();
        }
    }

    /**
     * Throws what is known of a disagreement. Does not wait.
     *
     * @throws DisagreementException if ranks were found to disagree
     */
    public void check() {
        LedgerChannel to = channel;
        if (to != null) {
            to.disagreement().ifPresent(Ledger::fail);
        }
    }

    /**
     * Posts what was done since the last step and waits until it has been compared with all ranks', at most for a while: a rank that has not come so far
     * is none that disagrees.
     *
     * @throws DisagreementException if ranks were found to disagree
     */
    public void settle(long timeoutMs) {
        LedgerChannel to = channel;
        if (to == null) {
            return;
        }
        long mine = window;
        synchronized (this) {
            post(-steps, true);
            window++;
        }
        check();
        long deadline = System.nanoTime() + timeoutMs * 1_000_000;
        try {
            to.flush(timeoutMs);
            while (to.comparedWindow() < mine && to.disagreement().isEmpty() && System.nanoTime() < deadline) {
                Thread.sleep(POLL_MS);
            }
        } catch (CommunicationException e) {
            LOG.debug("rank 0 does not compare now: {}", e.toString()); // a pause is no disagreement
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        check();
    }

    /**
     * The rank's program has returned: {@link #settle}, then nobody expects more of it.
     *
     * @throws DisagreementException if ranks were found to disagree
     */
    public void leave(long timeoutMs) {
        LedgerChannel to = channel;
        if (to != null) {
            try {
                settle(timeoutMs);
            } finally {
                to.post(new Word(LEFT, 0, true, Map.of(), List.of(), List.of()).toBytes());
                channel = null;
            }
        }
    }

    private static void fail(String message) {
        throw new DisagreementException(message);
    }

    /** Time spent so far on computing and posting what is compared, in nanoseconds. */
    public long nanos() {
        return nanos;
    }

    /** Adds to the time spent, for those who compute facts. */
    public void spent(long more) { // by the rank's own thread
        nanos += more;
    }

    /** Posts the calls of a step that has not ended. */
    void postCalls() {
        post(steps + 1, false);
    }

    private void post(long step, boolean ends) {
        LedgerChannel to = channel;
        if (to == null) {
            return;
        }
        Parts parts = new Parts(to, window, step);
        newNames.forEach(parts::name);
        newNames.clear();
        for (CallStream stream : streams.values()) {
            if (!stream.isEmpty()) {
                parts.calls(stream.take());
            }
        }
        for (FactSheet sheet : ends ? sheets.values() : List.<FactSheet>of()) {
            if (!sheet.isEmpty()) {
                parts.facts(sheet.take());
            }
        }
        parts.post(ends);
    }

    /** Collects a word and posts it in parts that a channel takes. */
    private static final class Parts {
        private static final int MOST_BYTES = 40_000;
        private static final int NUMBERS_BYTES = 32;
        private static final int MOST_FACTS = 1000;

        private final LedgerChannel to;
        private final long window;
        private final long step;
        private Map<Long, String> names = new LinkedHashMap<>();
        private List<Word.Calls> calls = new ArrayList<>();
        private List<Word.Facts> facts = new ArrayList<>();
        private int bytes;

        Parts(LedgerChannel to, long window, long step) {
            this.to = to;
            this.window = window;
            this.step = step;
        }

        void name(long label, String text) {
            make(NUMBERS_BYTES + 3 * text.length());
            names.put(label, text);
        }

        void calls(Word.Calls some) {
            make(NUMBERS_BYTES + 3 * some.key().length() + Integer.BYTES * some.signatures().length);
            calls.add(some);
        }

        void facts(Word.Facts some) {
            List<Word.Fact> all = some.facts();
            for (int from = 0; from < all.size(); from += MOST_FACTS) {
                List<Word.Fact> part = all.subList(from, Math.min(all.size(), from + MOST_FACTS));
                make(NUMBERS_BYTES * (1 + part.size()) + 3 * some.key().length());
                facts.add(new Word.Facts(some.key(), part));
            }
        }

        private void make(int more) {
            if (bytes > 0 && bytes + more > MOST_BYTES) {
                post(false);
            }
            bytes += more;
        }

        void post(boolean last) {
            if (last || bytes > 0) {
                to.post(new Word(window, step, last, names, calls, facts).toBytes());
            }
            names = new LinkedHashMap<>();
            calls = new ArrayList<>();
            facts = new ArrayList<>();
            bytes = 0;
        }
    }

    @Override
    public String toString() {
        return "ledger of rank " + worldRank;
    }
}
