package org.tp4j.comm.record;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.tp4j.comm.ProcessGroup;
import org.tp4j.comm.ReduceOp;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.ExecutionContext;

/**
 * What a rank has communicated, as data for assertions and reports.
 *
 * <pre>{@code
 * CommunicationLog log = new CommunicationLog();
 * ProcessGroup tp = new RecordingGroup(world.group(), log);
 * ... a forward pass over tp ...
 * assert log.count(Collective.ALL_REDUCE) == 1;
 * assert log.elements(Collective.ALL_REDUCE) == tokens * width;
 * }</pre>
 */
public final class CommunicationLog {
    private final List<Entry> entries = new ArrayList<>();

    /** An empty log. */
    public CommunicationLog() {}

    /**
     * One call.
     *
     * @param kind which call
     * @param group name of the group it was made on
     * @param groupSize number of ranks in the group
     * @param dtype element type; null if no data moves
     * @param elements elements of the whole value that moves, see {@link CollectiveCall#wholeElements()}
     * @param op how values are reduced; null if they are not
     * @param modulePath dotted path of the module that made the call, or empty
     */
    public record Entry(
            Collective kind,
            String group,
            int groupSize,
            @Nullable DType dtype,
            long elements,
            @Nullable ReduceOp op,
            String modulePath) {

        static Entry of(ProcessGroup group, CollectiveCall call) {
            return new Entry(
                    call.kind(),
                    group.name(),
                    group.size(),
                    call.dtype(),
                    call.wholeElements(),
                    call.op(),
                    ExecutionContext.current().modulePath());
        }

        /** Bytes of {@link #elements()}. */
        public long bytes() {
            return dtype == null ? 0 : elements * dtype.bytes();
        }

        /** Whether the call was made in this module or in one below it; every call is below the empty path. */
        public boolean isWithin(String module) {
            return module.isEmpty() || modulePath.equals(module) || modulePath.startsWith(module + ".");
        }
    }

    synchronized void add(Entry entry) {
        entries.add(entry);
    }

    /** All calls so far, in order. */
    public synchronized List<Entry> entries() {
        return List.copyOf(entries);
    }

    /** Clears the log. */
    public synchronized void clear() {
        entries.clear();
    }

    /** Number of calls. */
    public int count() {
        return entries().size();
    }

    /** Number of calls of one kind. */
    public int count(Collective kind) {
        return count(kind, "");
    }

    /** Number of calls of one kind made in a module or in one below it. */
    public int count(Collective kind, String modulePath) {
        return (int) matching(e -> e.kind() == kind && e.isWithin(modulePath)).count();
    }

    /** Elements moved by all calls of one kind, counted as in {@link Entry#elements()}. */
    public long elements(Collective kind) {
        return matching(e -> e.kind() == kind).mapToLong(Entry::elements).sum();
    }

    /** Bytes moved by all calls, counted as in {@link Entry#bytes()}. */
    public long bytes() {
        return matching(e -> true).mapToLong(Entry::bytes).sum();
    }

    private Stream<Entry> matching(Predicate<Entry> condition) {
        return entries().stream().filter(condition);
    }

    /** One line per call, and the totals. */
    public String table() {
        String row = "%-14s %-8s %5s %-9s %14s %16s %-8s %s%n";
        StringBuilder text = new StringBuilder(String.format(
                Locale.ROOT, row, "collective", "group", "ranks", "type", "elements", "bytes", "reduced", "module"));
        List<Entry> all = entries();
        for (Entry e : all) {
            text.append(String.format(
                    Locale.ROOT,
                    row,
                    e.kind(),
                    e.group(),
                    e.groupSize(),
                    e.dtype() == null ? "-" : e.dtype(),
                    e.elements(),
                    e.bytes(),
                    e.op() == null ? "-" : e.op().name().toLowerCase(Locale.ROOT),
                    e.modulePath()));
        }
        return text.append(all.size())
                .append(" calls, ")
                .append(bytes())
                .append(" bytes\n")
                .toString();
    }

    @Override
    public String toString() {
        return table();
    }
}
