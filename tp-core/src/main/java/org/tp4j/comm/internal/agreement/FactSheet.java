package org.tp4j.comm.internal.agreement;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.tp4j.tensor.ExecutionContext;

/**
 * What a rank says of a set of ranks that must be equal on all of them: facts in any order, counted and summed by their
 * label.
 */
public final class FactSheet {
    private static final int MOST_LABELS = 16_384; // numbers that change each step make new ones

    private final Ledger ledger;
    private final String key;
    private final boolean compared;
    private final Map<Key, Entry> entries = new HashMap<>();
    private final List<Entry> touched = new ArrayList<>();

    private record Key(Object what, String module) {}

    private static final class Entry {
        private final long label;
        private final FactKind kind;
        private int count;
        private long sum;
        private long last;

        Entry(long label, FactKind kind) {
            this.label = label;
            this.kind = kind;
        }
    }

    FactSheet(Ledger ledger, String key, List<Integer> worldRanks) {
        this.ledger = ledger;
        this.key = key;
        this.compared = worldRanks.size() > 1;
    }

    /** Whether facts are compared; if not, they need not be computed. */
    public boolean isOn() {
        return compared && ledger.isOn() && !ExecutionContext.current().isAlone();
    }

    /**
     * Adds a fact.
     *
     * @param what an immutable value with a {@code toString} that describes it and is the same on every rank
     * @param module dotted path of the module it belongs to, or empty
     * @param kind what the value is
     * @param value what must be equal as well
     */
    public void add(Object what, String module, FactKind kind, long value) {
        if (!isOn()) {
            return;
        }
        synchronized (ledger) {
            Entry entry = entries.get(new Key(what, module));
            if (entry == null) {
                entry = open(new Key(what, module), kind);
            }
            if (entry.count == 0) {
                touched.add(entry);
            }
            entry.count++;
            entry.sum += Labels.mix(value);
            entry.last = value;
        }
    }

    private Entry open(Key key, FactKind kind) {
        if (entries.size() >= MOST_LABELS) {
            entries.clear(); // those touched are kept in their list
        }
        String text = key.module.isEmpty() ? key.what.toString() : key.what + " in module '" + key.module + "'";
        Entry entry = new Entry(Labels.of(text), kind);
        entries.put(key, entry);
        ledger.name(entry.label, text);
        return entry;
    }

    boolean isEmpty() {
        return touched.isEmpty();
    }

    /** Takes the facts since the last time. */
    Word.Facts take() {
        List<Word.Fact> facts = new ArrayList<>(touched.size());
        for (Entry entry : touched) {
            facts.add(new Word.Fact(entry.label, entry.kind, entry.count, entry.sum, entry.last));
            entry.count = 0;
            entry.sum = 0;
        }
        touched.clear();
        return new Word.Facts(key, facts);
    }
}
