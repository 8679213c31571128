package org.tp4j.cpu.internal.memory;

import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import org.tp4j.tensor.DType;

/**
 * Arrays kept for reuse, so that a training step allocates nothing once it is warm.
 *
 * <p>Arrays are kept by element kind and size class, eight classes per doubling. Small ones stay in the thread that
 * returned them (no lock); the rest, and what a thread has too many of, go to bins shared by all threads, one lock per bin.
 * Small arrays are as long as their class; large ones exactly as long as first requested. The shared bins hold at most
 * {@code limitBytes}; what is returned beyond that is left to the garbage collector.
 */
@SuppressWarnings("EnumOrdinal") // places of bins, which nothing outside remembers
public final class ArrayPool {
    /** Longest array, in elements: what the virtual machine allows. */
    public static final int MAX_ELEMENTS = Integer.MAX_VALUE - 8;

    private static final int LOCAL_MAX_ELEMENTS = 4096;
    private static final int LOCAL_PER_CLASS = 16;
    private static final int ROUNDED_MAX_ELEMENTS = 1 << 16;
    private static final int MIN_ELEMENTS = 8;
    private static final int CLASSES = 240;
    private static final int LOCAL_CLASSES = sizeClass(LOCAL_MAX_ELEMENTS) + 1;

    private static final int KINDS = ArrayKind.values().length;

    private final long limitBytes;
    private final boolean poison;
    private final Bin[] shared = new Bin[KINDS * CLASSES];
    private final AtomicLong pooledBytes = new AtomicLong();
    private final LongAdder created = new LongAdder();
    private final ThreadLocal<Bin[]> local = ThreadLocal.withInitial(() -> bins(KINDS * LOCAL_CLASSES));

    public ArrayPool(long limitBytes, boolean poison) {
        this.limitBytes = limitBytes;
        this.poison = poison;
        Arrays.setAll(shared, i -> new Bin());
    }

    private static Bin[] bins(int n) {
        Bin[] bins = new Bin[n];
        Arrays.setAll(bins, i -> new Bin());
        return bins;
    }

    /**
     * An array for {@code elements} elements of {@code dtype}, its content undefined.
     *
     * @throws OutOfMemoryError if there is not enough even after everything pooled has been dropped
     */
    public Object take(DType dtype, int elements) {
        ArrayKind kind = ArrayKind.of(dtype);
        int sizeClass = sizeClass(elements);
        Object found = null;
        if (elements <= LOCAL_MAX_ELEMENTS) {
            found = local.get()[kind.ordinal() * LOCAL_CLASSES + sizeClass].take(elements);
        }
        if (found == null) {
            Bin bin = shared[kind.ordinal() * CLASSES + sizeClass];
            synchronized (bin) {
                found = bin.take(elements);
            }
            if (found != null) {
                pooledBytes.addAndGet(-ArrayKind.bytes(found));
            } else {
                found = create(kind, elements <= ROUNDED_MAX_ELEMENTS ? capacity(sizeClass) : elements);
            }
        }
        if (poison) {
            kind.poison(found);
        }
        return found;
    }

    /** Scratch floats; return them with {@link #giveFloats}. */
    public float[] takeFloats(long elements) {
        return (float[]) take(DType.FLOAT32, checkedLength(elements));
    }

    /** Returns scratch floats. */
    public void giveFloats(float[] scratch) {
        give(DType.FLOAT32, scratch);
    }

    /** Scratch doubles; return them with {@link #giveDoubles}. */
    public double[] takeDoubles(long elements) {
        return (double[]) take(DType.FLOAT64, checkedLength(elements));
    }

    /** Returns scratch doubles. */
    public void giveDoubles(double[] scratch) {
        give(DType.FLOAT64, scratch);
    }

    private static int checkedLength(long elements) {
        if (elements > MAX_ELEMENTS) {
            throw new OutOfMemoryError("scratch of " + elements + " elements");
        }
        return (int) elements;
    }

    /** Returns an array that {@link #take} handed out. */
    void give(DType dtype, Object array) {
        ArrayKind kind = ArrayKind.of(dtype);
        if (poison) {
            kind.poison(array);
        }
        int length = ArrayKind.length(array);
        int sizeClass = sizeClass(length);
        if (length <= LOCAL_MAX_ELEMENTS) {
            Bin bin = local.get()[kind.ordinal() * LOCAL_CLASSES + sizeClass];
            if (bin.count < LOCAL_PER_CLASS) {
                bin.give(array);
                return;
            }
        }
        long bytes = ArrayKind.bytes(array);
        if (pooledBytes.addAndGet(bytes) > limitBytes) {
            pooledBytes.addAndGet(-bytes);
            return;
        }
        Bin bin = shared[kind.ordinal() * CLASSES + sizeClass];
        synchronized (bin) {
            bin.give(array);
        }
    }

    /** Drops everything in the shared bins. */
    public void clear() {
        for (Bin bin : shared) {
            synchronized (bin) {
                for (Object array = bin.take(0); array != null; array = bin.take(0)) {
                    pooledBytes.addAndGet(-ArrayKind.bytes(array));
                }
            }
        }
    }

    /** Bytes waiting in the shared bins. */
    public long pooledBytes() {
        return pooledBytes.get();
    }

    /** How many arrays have been allocated so far. */
    public long created() {
        return created.sum();
    }

    private Object create(ArrayKind kind, int length) {
        created.increment();
        try {
            return kind.allocate(length);
        } catch (OutOfMemoryError e) {
            clear();
            return kind.allocate(length);
        }
    }

    /** Class of arrays that hold {@code elements}: lengths 8, 9 ... 16, 18, 20 ... 32, 36 and so on. */
    static int sizeClass(int elements) {
        if (elements <= MIN_ELEMENTS) {
            return 0;
        }
        int shift = 31 - Integer.numberOfLeadingZeros(elements - 1) - 3;
        return shift * 8 + ((elements - 1) >>> shift) + 1 - 8;
    }

    /** The longest array of a class. */
    static int capacity(int sizeClass) {
        if (sizeClass == 0) {
            return MIN_ELEMENTS;
        }
        int shift = (sizeClass - 1) >>> 3;
        return (sizeClass - shift * 8 + 8) << shift;
    }

    /** A stack of arrays of one kind and class. */
    private static final class Bin {
        private @Nullable Object[] stack = new Object[4];
        private int count;

        void give(Object array) {
            if (count == stack.length) {
                stack = Arrays.copyOf(stack, 2 * count);
            }
            stack[count++] = array;
        }

        /** The shortest array of at least this length, the latest among equals; null if there is none. */
        public @Nullable Object take(int elements) {
            int best = -1;
            int bestLength = Integer.MAX_VALUE;
            for (int i = count - 1; i >= 0; i--) {
                int length = ArrayKind.length(stack[i]);
                if (length >= elements && length < bestLength) {
                    best = i;
                    bestLength = length;
                    if (length == elements || elements <= ROUNDED_MAX_ELEMENTS) {
                        break;
                    }
                }
            }
            if (best < 0) {
                return null;
            }
            Object array = stack[best];
            stack[best] = stack[--count];
            stack[count] = null;
            return array;
        }
    }
}
