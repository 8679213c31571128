package org.tp4j.cuda.internal.driver;

/** The capture of a step that a stream takes part in. Events keep it to know their stream and whether its capture is over. */
final class CaptureNumber {
    /** No capture: work is executed. */
    static final int NONE = 0;

    private volatile int number = NONE;

    int get() {
        return number;
    }

    void set(int value) {
        number = value;
    }
}
