package org.tp4j.comm.internal.agreement;

import java.util.Arrays;
import java.util.List;

/** The collectives a rank has called on one group since its last word. */
public final class CallStream {
    /** The signature of a call that was refused for its arguments: it agrees with any. */
    public static final int REFUSED = 0;

    private static final int MOST = 4096; // then the ledger posts before the step ends

    private final Ledger ledger;
    private final String key;
    private final boolean compared;
    private int[] signatures = new int[16];
    private int count;
    private long posted;

    CallStream(Ledger ledger, String key, List<Integer> worldRanks) {
        this.ledger = ledger;
        this.key = key;
        this.compared = worldRanks.size() > 1;
    }

    /**
     * Adds a call.
     *
     * @param signature hash of what the members' calls have in common
     * @param call its {@code toString} describes it
     */
    public void add(int signature, Object call) {
        if (!compared || !ledger.isOn()) {
            return;
        }
        synchronized (ledger) {
            if (count == signatures.length) {
                signatures = Arrays.copyOf(signatures, 2 * count);
            }
            signatures[count++] = signature;
            ledger.name(Labels.ofCall(signature), call);
            if (count >= MOST) {
                ledger.postCalls();
            }
        }
    }

    String key() {
        return key;
    }

    boolean isEmpty() {
        return count == 0;
    }

    /** Takes what has been called since the last time. */
    Word.Calls take() {
        Word.Calls calls = new Word.Calls(key, posted, Arrays.copyOf(signatures, count));
        posted += count;
        count = 0;
        return calls;
    }
}
