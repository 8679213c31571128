package org.tp4j.threads;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.tp4j.comm.CommunicationException;
import org.tp4j.comm.ReduceOp;
import org.tp4j.comm.record.CollectiveCall;
import org.tp4j.cpu.internal.reduce.Reducer;
import org.tp4j.tensor.DType;

/**
 * What a call does to its parties' arrays: runs of elements, one after the other, cut into chunks that may be done in
 * any order by any thread. A chunk has read what it needs of an input before it writes the same elements, so in-place
 * calls need no copy.
 */
public abstract class DataMovement {
    /** Elements in the smallest chunk: some microseconds of work, against a tenth of one to claim it. */
    private static final int SMALLEST = 4 * 1024;

    /** Elements in the largest: its inputs and outputs stay in a core's second-level cache. */
    private static final int LARGEST = 16 * 1024;

    private static final int CHUNKS_PER_RANK = 2;

    final ThreadWork[] posts;
    final long[] runs;
    private final int chunk;
    private final int chunks;

    /** Over runs of the given lengths. */
    DataMovement(ThreadWork[] posts, long... runs) {
        this.posts = posts;
        this.runs = runs;
        long total = 0;
        for (long run : runs) {
            total += run;
        }
        long fair = total / ((long) CHUNKS_PER_RANK * posts.length);
        this.chunk = (int) Math.max(SMALLEST, Math.min(LARGEST, fair));
        this.chunks = (int) ((total + chunk - 1) / chunk);
    }

    static DataMovement of(ThreadWork[] posts) {
        CollectiveCall call = posts[0].record().call();
        return switch (call.kind()) {
            case ALL_REDUCE, REDUCE -> new Reduction(posts, call, call.elements());
            case REDUCE_SCATTER -> new Reduction(posts, call, Objects.requireNonNull(call.sendCounts()));
            case ALL_GATHER -> new Gather(posts, Objects.requireNonNull(call.sendCounts()));
            case ALL_TO_ALL -> AllToAll.of(posts);
            case BROADCAST -> new Broadcast(posts, call.root(), call.elements());
            case SEND, RECEIVE -> new Message(posts, call.elements());
            case BARRIER -> new Split(posts, 0);
            case SPLIT -> new Split(posts, 1);
        };
    }

    int chunks() {
        return chunks;
    }

    /** Does one chunk. */
    void run(int index) {
        for (ThreadWork post : posts) {
            post.checkLive();
        }
        long from = (long) index * chunk;
        long to = from + chunk;
        long begin = 0;
        for (int run = 0; run < runs.length && begin < to; run++) {
            long end = begin + runs[run];
            if (end > from) {
                long first = Math.max(from, begin);
                move(run, (int) begin, (int) (first - begin), (int) (Math.min(to, end) - first));
            }
            begin = end;
        }
    }

    /**
     * Moves part of a run.
     *
     * @param begin where the run begins among all runs
     * @param at first element within the run
     */
    abstract void move(int run, int begin, int at, int length);

    /** All-reduce and reduce: one run, to all or to the root. Reduce-scatter: a run to each. */
    private static final class Reduction extends DataMovement {
        private final DType dtype;
        private final ReduceOp op;
        private final int root;
        private final boolean scatter;

        Reduction(ThreadWork[] posts, CollectiveCall call, long... runs) {
            super(posts, runs);
            this.dtype = Objects.requireNonNull(call.dtype());
            this.op = Objects.requireNonNull(call.op());
            this.root = call.root();
            this.scatter = call.kind() == org.tp4j.comm.record.Collective.REDUCE_SCATTER;
        }

        @Override
        void move(int run, int begin, int at, int length) {
            Object[] ins = new Object[posts.length];
            int[] inAt = new int[posts.length];
            for (int i = 0; i < ins.length; i++) {
                ins[i] = Objects.requireNonNull(posts[i].inArray);
                inAt[i] = posts[i].inAt + begin + at;
            }
            ThreadWork first = posts[scatter ? run : Math.max(root, 0)];
            Object out = Objects.requireNonNull(first.outArray);
            int outAt = first.outAt + at;
            Reducer.reduce(dtype, op, ins, inAt, out, outAt, length);
            if (!scatter && root < 0) {
                for (ThreadWork post : posts) {
                    Reducer.copy(out, outAt, post.outArray, post.outAt + at, length);
                }
            }
        }
    }

    /** Run r is rank r's input, and goes to all. */
    private static final class Gather extends DataMovement {
        Gather(ThreadWork[] posts, long[] counts) {
            super(posts, counts);
        }

        @Override
        void move(int run, int begin, int at, int length) {
            ThreadWork from = posts[run];
            for (ThreadWork to : posts) {
                Reducer.copy(from.inArray, from.inAt + at, to.outArray, to.outAt + begin + at, length);
            }
        }
    }

    /** Run i * size + j goes from rank i to rank j. */
    private static final class AllToAll extends DataMovement {
        private final int[] inAt;
        private final int[] outAt;

        private AllToAll(ThreadWork[] posts, long[] runs, int[] inAt, int[] outAt) {
            super(posts, runs);
            this.inAt = inAt;
            this.outAt = outAt;
        }

        static AllToAll of(ThreadWork[] posts) {
            int size = posts.length;
            long[] runs = new long[size * size];
            int[] inAt = new int[size * size];
            int[] outAt = new int[size * size];
            int[] received = new int[size];
            for (int from = 0; from < size; from++) {
                long[] counts =
                        Objects.requireNonNull(posts[from].record().call().sendCounts());
                int sent = 0;
                for (int to = 0; to < size; to++) {
                    int run = from * size + to;
                    runs[run] = counts[to];
                    inAt[run] = posts[from].inAt + sent;
                    outAt[run] = posts[to].outAt + received[to];
                    sent += (int) counts[to];
                    received[to] += (int) counts[to];
                }
            }
            return new AllToAll(posts, runs, inAt, outAt);
        }

        @Override
        void move(int run, int begin, int at, int length) {
            ThreadWork from = posts[run / posts.length];
            ThreadWork to = posts[run % posts.length];
            Reducer.copy(from.inArray, inAt[run] + at, to.outArray, outAt[run] + at, length);
        }
    }

    private static final class Broadcast extends DataMovement {
        private final ThreadWork root;

        Broadcast(ThreadWork[] posts, int root, long elements) {
            super(posts, elements);
            this.root = posts[root];
        }

        @Override
        void move(int run, int begin, int at, int length) {
            for (ThreadWork to : posts) {
                Reducer.copy(root.inArray, root.inAt + at, to.outArray, to.outAt + at, length);
            }
        }
    }

    /** The sender's array to the receiver's. */
    private static final class Message extends DataMovement {
        Message(ThreadWork[] posts, long elements) {
            super(posts, elements);
        }

        @Override
        void move(int run, int begin, int at, int length) {
            Reducer.copy(posts[0].inArray, posts[0].inAt + at, posts[1].outArray, posts[1].outAt + at, length);
        }
    }

    /** Makes the new groups; with no elements, a barrier. */
    private static final class Split extends DataMovement {
        Split(ThreadWork[] posts, long elements) {
            super(posts, elements);
        }

        @Override
        void move(int run, int begin, int at, int length) {
            Map<Integer, List<ThreadWork>> colors = new TreeMap<>();
            for (ThreadWork post : posts) {
                colors.computeIfAbsent(request(post).color(), color -> new ArrayList<>())
                        .add(post);
            }
            colors.values().forEach(Split::form);
        }

        private static void form(List<ThreadWork> members) {
            // Stable: equal keys stay in rank order.
            members.sort((a, b) -> Integer.compare(request(a).key(), request(b).key()));
            ThreadWork first = members.get(0);
            List<Integer> worldRanks = new ArrayList<>();
            for (ThreadWork member : members) {
                if (!request(member).name().equals(request(first).name())) {
                    throw new CommunicationException("ranks of one color name their new group differently: rank "
                            + first.rank() + " '" + request(first).name() + "', rank " + member.rank() + " '"
                            + request(member).name() + "'");
                }
                worldRanks.add(member.exchange().worldRanks().get(member.rank()));
            }
            Exchange made = new Exchange(first.exchange().job(), request(first).name(), worldRanks);
            for (ThreadWork member : members) {
                member.formed = made;
            }
        }

        private static NamedSplit request(ThreadWork post) {
            return Objects.requireNonNull(post.split);
        }
    }
}
