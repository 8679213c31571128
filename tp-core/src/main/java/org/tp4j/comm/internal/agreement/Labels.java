package org.tp4j.comm.internal.agreement;

/** Numbers that stand for texts, the same on all ranks. */
final class Labels {
    private Labels() {}

    /** The number of a text: FNV-1a, 64 bits, mixed. */
    static long of(String text) {
        long hash = 0xcbf29ce484222325L;
        for (int i = 0; i < text.length(); i++) {
            hash = (hash ^ text.charAt(i)) * 0x100000001b3L;
        }
        return mix(hash);
    }

    /** The number of a call's signature. */
    static long ofCall(int signature) {
        return mix(signature);
    }

    /** A bijection that spreads bits (the finalizer of SplitMix64). */
    static long mix(long bits) {
        long z = bits + 0x9e3779b97f4a7c15L;
        z = (z ^ (z >>> 30)) * 0xbf58476d1ce4e5b9L;
        z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL;
        return z ^ (z >>> 31);
    }
}
