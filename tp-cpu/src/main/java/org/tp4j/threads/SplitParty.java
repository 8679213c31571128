package org.tp4j.threads;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.tp4j.comm.CommunicationException;
import org.tp4j.comm.record.CallRecord;

/** One rank's side of a split: the name, color and key it gave, and the new group it gets. */
final class SplitParty extends Party {
    private final Exchange exchange;
    private final String name;
    private final int color;
    private final int key;
    private @Nullable Exchange formed; // written before the call is done, read after

    SplitParty(Exchange exchange, int rank, CallRecord record, String name, int color, int key) {
        super(rank, rank, record, null, null);
        this.exchange = exchange;
        this.name = name;
        this.color = color;
        this.key = key;
    }

    /** The new group, once the call is done. */
    Exchange formed() {
        return Objects.requireNonNull(formed);
    }

    /** The movement of a split, which moves no data: one chunk that forms the new groups of all parties. */
    static DataMovement movement(Party[] parties) {
        return new DataMovement(parties, (run, begin, at, length) -> formGroups(parties), 1);
    }

    private static void formGroups(Party[] parties) {
        Map<Integer, List<SplitParty>> byColor = new TreeMap<>();
        for (Party party : parties) {
            SplitParty member = (SplitParty) party;
            byColor.computeIfAbsent(member.color, color -> new ArrayList<>()).add(member);
        }
        byColor.values().forEach(SplitParty::formGroup);
    }

    private static void formGroup(List<SplitParty> members) {
        members.sort(Comparator.comparingInt(member -> member.key)); // stable: equal keys stay in rank order
        SplitParty first = members.get(0);
        List<Integer> worldRanks = new ArrayList<>();
        for (SplitParty member : members) {
            if (!member.name.equals(first.name)) {
                throw new CommunicationException("ranks with the same color name their new group differently: rank "
                        + first.rank() + " '" + first.name + "', rank " + member.rank() + " '" + member.name
                        + "'; HINT: give split the same name on all ranks of a color");
            }
            worldRanks.add(member.exchange.worldRanks().get(member.rank()));
        }
        Exchange formed = new Exchange(first.exchange.job(), first.name, worldRanks);
        for (SplitParty member : members) {
            member.formed = formed;
        }
    }
}
