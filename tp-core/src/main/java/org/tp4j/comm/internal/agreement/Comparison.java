package org.tp4j.comm.internal.agreement;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Compares the ranks' words, on rank 0. A group's calls are compared one by one as soon as all members have made them; facts
 * about some ranks once all of them have ended the step. What is missing is awaited, never a disagreement. The first
 * disagreement is announced, and nothing is compared afterwards. Thread-safe.
 */
public final class Comparison {
    private static final Logger LOG = LoggerFactory.getLogger(Comparison.class);
    private static final int MOST_NAMES = 1 << 18;
    private static final int MOST_WAITING = 1 << 20; // calls or facts of a rank that others have not reached
    private static final String HINT =
            "; HINT: all ranks of a mesh run the same program with the same settings. Data that"
                    + " differs is declared with DTensors.fromLocal(tensor, mesh, Placement.shard(...)); what one rank does by"
                    + " itself stands in Alone.run(...)";

    private final int ranks;
    private final Consumer<String> announce;
    private final LongConsumer advanced;
    private final Map<Long, String> names = new HashMap<>();
    private final Map<String, Stream> streams = new HashMap<>();
    private final Map<String, Sheet> sheets = new HashMap<>();
    /** Window that each rank has ended last. */
    private final long[] ended;

    private final boolean[] left;
    private long compared = -1;
    private boolean over;

    /** Calls on one group, by member. */
    private static final class Stream {
        private final int[] members;
        private final List<Deque<Integer>> waiting = new ArrayList<>();
        private long agreed;

        Stream(int[] members) {
            this.members = members;
            for (int i = 0; i < members.length; i++) {
                waiting.add(new ArrayDeque<>());
            }
        }
    }

    /** Facts about some ranks: by member and window. */
    private static final class Sheet {
        private final int[] members;
        private final List<Map<Long, Map<Long, Word.Fact>>> windows = new ArrayList<>();
        private final Map<Long, Long> steps = new HashMap<>();

        Sheet(int[] members) {
            this.members = members;
            for (int i = 0; i < members.length; i++) {
                windows.add(new LinkedHashMap<>());
            }
        }
    }

    /**
     * A comparison of so many ranks.
     *
     * @param announce lets all ranks know a disagreement
     * @param advanced is told the latest window that all ranks have ended and that has been compared
     */
    public Comparison(int ranks, Consumer<String> announce, LongConsumer advanced) {
        this.ranks = ranks;
        this.announce = announce;
        this.advanced = advanced;
        this.left = new boolean[ranks];
        this.ended = new long[ranks];
        Arrays.fill(ended, -1);
    }

    /** Takes a rank's word. */
    public synchronized void posted(int rank, byte[] bytes) {
        if (over) {
            return;
        }
        Word word;
        try {
            word = Word.read(bytes);
        } catch (IOException e) {
            LOG.warn("agreement: rank {} has posted what is no word: {}", rank, e.toString());
            return;
        }
        if (names.size() + word.names().size() > MOST_NAMES) {
            names.clear(); // messages then show numbers instead
        }
        names.putAll(word.names());
        for (Word.Calls calls : word.calls()) {
            add(rank, calls);
        }
        for (Word.Facts facts : word.facts()) {
            add(rank, word, facts);
        }
        if (word.last() && !over) {
            if (word.window() == Ledger.LEFT) {
                left[rank] = true; // it keeps nobody waiting any more
            } else {
                ended[rank] = word.window();
            }
            for (Sheet sheet : sheets.values()) {
                if (!over) {
                    compare(sheet);
                }
            }
            advance();
        }
    }

    private void advance() {
        long until = Long.MAX_VALUE;
        for (int rank = 0; rank < ranks; rank++) {
            until = over || left[rank] ? until : Math.min(until, ended[rank]);
        }
        if (until != compared) {
            compared = until;
            advanced.accept(until);
        }
    }

    private static int[] members(String key) {
        String list = key.substring(key.lastIndexOf('[') + 1, key.lastIndexOf(']'));
        return Arrays.stream(list.split(", ")).mapToInt(Integer::parseInt).toArray();
    }

    private int memberOf(int[] members, int rank, String key) {
        for (int i = 0; i < members.length; i++) {
            if (members[i] < 0 || members[i] >= ranks) {
                return -1;
            }
            if (members[i] == rank) {
                return i;
            }
        }
        LOG.warn("agreement: rank {} has posted about {}, of which it is none", rank, key);
        return -1;
    }

    private void add(int rank, Word.Calls calls) {
        if (over) {
            return;
        }
        Stream stream = streams.computeIfAbsent(calls.key(), key -> new Stream(members(key)));
        int me = memberOf(stream.members, rank, calls.key());
        if (me < 0 || stream.waiting.get(me).size() > MOST_WAITING) {
            return;
        }
        for (int signature : calls.signatures()) {
            stream.waiting.get(me).addLast(signature);
        }
        while (stream.waiting.stream().noneMatch(Deque::isEmpty)) {
            int first = -1; // the member whose call counts
            for (int i = 0; i < stream.members.length; i++) {
                int mine = stream.waiting.get(i).getFirst();
                if (mine == CallStream.REFUSED) {
                    continue;
                }
                first = first < 0 ? i : first;
                int expected = stream.waiting.get(first).getFirst();
                if (mine != expected) {
                    String group = calls.key().substring(0, calls.key().indexOf('['));
                    disagree("ranks " + stream.members[first] + " and " + stream.members[i] + " disagree on call "
                            + (stream.agreed + 1) + " of group '" + group + "': rank " + stream.members[first]
                            + " calls " + name(Labels.ofCall(expected)) + ", rank " + stream.members[i] + " calls "
                            + name(Labels.ofCall(mine)));
                    return;
                }
            }
            stream.waiting.forEach(Deque::removeFirst);
            stream.agreed++;
        }
    }

    private void add(int rank, Word word, Word.Facts facts) {
        Sheet sheet = sheets.computeIfAbsent(facts.key(), key -> new Sheet(members(key)));
        int me = memberOf(sheet.members, rank, facts.key());
        if (me < 0) {
            return;
        }
        Map<Long, Word.Fact> mine = sheet.windows.get(me).computeIfAbsent(word.window(), w -> new LinkedHashMap<>());
        sheet.steps.put(word.window(), word.step());
        if (mine.size() + facts.facts().size() <= MOST_WAITING) {
            facts.facts().forEach(fact -> mine.put(fact.label(), fact));
        }
    }

    /** Compares the windows that all members have ended. */
    private void compare(Sheet sheet) {
        long until = Long.MAX_VALUE;
        for (int member : sheet.members) {
            until = left[member] ? until : Math.min(until, ended[member]);
        }
        Map<Long, Boolean> due = new LinkedHashMap<>();
        for (Map<Long, Map<Long, Word.Fact>> windows : sheet.windows) {
            for (long window : windows.keySet()) {
                if (window <= until) {
                    due.put(window, true);
                }
            }
        }
        for (Iterator<Long> windows = due.keySet().iterator(); windows.hasNext() && !over; ) {
            long window = windows.next();
            long step = Objects.requireNonNullElse(sheet.steps.remove(window), 0L);
            Map<Long, Word.Fact> first = taken(sheet, 0, window);
            for (int i = 1; i < sheet.members.length; i++) {
                Map<Long, Word.Fact> other = taken(sheet, i, window);
                boolean both = hasEnded(sheet.members[0], window) && hasEnded(sheet.members[i], window);
                if (both && !first.equals(other) && !over) {
                    compare(step, sheet.members[0], first, sheet.members[i], other);
                }
            }
        }
    }

    /** Whether a rank has come to the end of a step, rather than left before it. */
    private boolean hasEnded(int rank, long window) {
        return ended[rank] >= window;
    }

    private static Map<Long, Word.Fact> taken(Sheet sheet, int member, long window) {
        Map<Long, Word.Fact> facts = sheet.windows.get(member).remove(window);
        return facts == null ? Map.of() : facts;
    }

    private void compare(long step, int a, Map<Long, Word.Fact> ofA, int b, Map<Long, Word.Fact> ofB) {
        Word.Fact onlyA = null;
        Word.Fact onlyB = null;
        for (Word.Fact fact : ofA.values()) {
            Word.Fact that = ofB.get(fact.label());
            if (that == null) {
                onlyA = onlyA == null ? fact : onlyA;
            } else if (!fact.agrees(that)) {
                disagree(inStep(step, a, b) + name(fact.label()) + " " + difference(a, fact, b, that));
                return;
            }
        }
        for (Word.Fact fact : ofB.values()) {
            if (!ofA.containsKey(fact.label())) {
                onlyB = fact;
                break;
            }
        }
        if (onlyA != null || onlyB != null) {
            disagree(inStep(step, a, b) + "rank " + a + " has " + described(onlyA) + ", rank " + b + " has "
                    + described(onlyB));
        }
    }

    private static String inStep(long step, int a, int b) {
        String when = step > 0 ? "in step " + step : step == 0 ? "before the first step" : "after step " + -step;
        return "ranks " + a + " and " + b + " disagree " + when + ": ";
    }

    private String described(Word.@Nullable Fact fact) {
        return fact == null ? "nothing of the kind" : name(fact.label()) + value(fact);
    }

    private static String value(Word.Fact fact) {
        return fact.kind() == FactKind.NUMBER ? " " + Double.longBitsToDouble(fact.last()) : "";
    }

    private static String difference(int a, Word.Fact ofA, int b, Word.Fact ofB) {
        if (ofA.count() != ofB.count()) {
            return "occurs " + ofA.count() + " times on rank " + a + " and " + ofB.count() + " times on rank " + b;
        }
        return switch (ofA.kind()) {
            case NUMBER -> "is" + value(ofA) + " on rank " + a + " and" + value(ofB) + " on rank " + b;
            case CONTENT, OCCURRENCE -> "differs in its content";
        };
    }

    private String name(long label) {
        return names.getOrDefault(label, "something unnamed (" + Long.toHexString(label) + ")");
    }

    private void disagree(String what) {
        over = true;
        streams.clear();
        sheets.clear();
        announce.accept(what + HINT);
    }
}
