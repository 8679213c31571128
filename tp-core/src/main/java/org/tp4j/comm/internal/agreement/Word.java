package org.tp4j.comm.internal.agreement;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What a rank posts: some of its calls and facts.
 *
 * @param window what they belong to: everything until the end of a step, or until ranks settle
 * @param step number of the step, from 1; negative for what comes after that many steps
 * @param last whether it is the rank's last word of that window
 * @param names what labels stand for that this rank has not named before
 * @param calls calls by group
 * @param facts facts by set of ranks
 */
record Word(long window, long step, boolean last, Map<Long, String> names, List<Calls> calls, List<Facts> facts) {
    private static final int MOST_ITEMS = 1 << 16;

    /**
     * Calls on a group, in order.
     *
     * @param key the group and its members
     * @param first number of the first of them, from 0
     * @param signatures their signatures
     */
    @SuppressWarnings("ArrayRecordComponent") // created and read once
    record Calls(String key, long first, int[] signatures) {}

    /**
     * Facts about a set of ranks.
     *
     * @param key the ranks
     * @param facts the facts
     */
    record Facts(String key, List<Fact> facts) {}

    /**
     * The facts of one label.
     *
     * @param label what they are about
     * @param kind what their values are
     * @param count how many there are
     * @param sum sum of the mixed values
     * @param last the last value
     */
    record Fact(long label, FactKind kind, int count, long sum, long last) {
        boolean agrees(Fact that) {
            return count == that.count && sum == that.sum;
        }
    }

    byte[] toBytes() {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(256);
        try (DataOutputStream out = new DataOutputStream(bytes)) {
            out.writeLong(window);
            out.writeLong(step);
            out.writeBoolean(last);
            out.writeInt(names.size());
            for (Map.Entry<Long, String> name : names.entrySet()) {
                out.writeLong(name.getKey());
                out.writeUTF(name.getValue());
            }
            out.writeInt(calls.size());
            for (Calls some : calls) {
                out.writeUTF(some.key);
                out.writeLong(some.first);
                out.writeInt(some.signatures.length);
                for (int signature : some.signatures) {
                    out.writeInt(signature);
                }
            }
            out.writeInt(facts.size());
            for (Facts some : facts) {
                out.writeUTF(some.key);
                out.writeInt(some.facts.size());
                for (Fact fact : some.facts) {
                    out.writeLong(fact.label);
                    out.writeByte(fact.kind.ordinal());
                    out.writeInt(fact.count);
                    out.writeLong(fact.sum);
                    out.writeLong(fact.last);
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e); // memory does not fail
        }
        return bytes.toByteArray();
    }

    /**
     * Reads a word.
     *
     * @throws IOException if it is not one
     */
    static Word read(byte[] bytes) throws IOException {
        DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes));
        long window = in.readLong();
        long step = in.readLong();
        boolean last = in.readBoolean();
        Map<Long, String> names = new LinkedHashMap<>();
        for (int n = items(in); n > 0; n--) {
            names.put(in.readLong(), in.readUTF());
        }
        List<Calls> calls = new ArrayList<>();
        for (int n = items(in); n > 0; n--) {
            String key = in.readUTF();
            long first = in.readLong();
            int[] signatures = new int[items(in)];
            for (int i = 0; i < signatures.length; i++) {
                signatures[i] = in.readInt();
            }
            calls.add(new Calls(key, first, signatures));
        }
        List<Facts> facts = new ArrayList<>();
        for (int n = items(in); n > 0; n--) {
            String key = in.readUTF();
            List<Fact> some = new ArrayList<>();
            for (int m = items(in); m > 0; m--) {
                long label = in.readLong();
                int kind = in.readByte();
                if (kind < 0 || kind >= FactKind.values().length) {
                    throw new IOException("a fact of kind " + kind);
                }
                some.add(new Fact(label, FactKind.values()[kind], in.readInt(), in.readLong(), in.readLong()));
            }
            facts.add(new Facts(key, some));
        }
        return new Word(window, step, last, names, calls, facts);
    }

    private static int items(DataInputStream in) throws IOException {
        int n = in.readInt();
        if (n < 0 || n > MOST_ITEMS) {
            throw new IOException("a word with a list of " + n);
        }
        return n;
    }
}
