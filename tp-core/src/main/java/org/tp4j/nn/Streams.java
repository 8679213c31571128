package org.tp4j.nn;

/** Streams of random numbers by name: each parameter and each call draws from its own, whatever else is drawn. */
final class Streams {
    private Streams() {}

    /** A 64-bit hash of a name (FNV-1a over its UTF-16 units, then mixed as in SplitMix64). */
    static long of(String name) {
        long hash = 0xcbf29ce484222325L;
        for (int i = 0; i < name.length(); i++) {
            hash = (hash ^ name.charAt(i)) * 0x100000001b3L;
        }
        return mix(hash);
    }

    /** The stream of a numbered use of another stream. */
    static long of(long stream, long number) {
        return mix(stream ^ mix(number + 0x9e3779b97f4a7c15L));
    }

    private static long mix(long z) {
        long a = (z ^ z >>> 30) * 0xbf58476d1ce4e5b9L;
        long b = (a ^ a >>> 27) * 0x94d049bb133111ebL;
        return b ^ b >>> 31;
    }
}
