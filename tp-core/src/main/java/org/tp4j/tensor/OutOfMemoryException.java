package org.tp4j.tensor;

import org.jspecify.annotations.Nullable;

/**
 * A device, or the host, has no memory left for an array. The message says what was asked, what is free, and what the
 * scopes of the thread hold.
 */
public class OutOfMemoryException extends TpException {
    private static final long serialVersionUID = 1L;

    private final transient Device device;
    private final long requestedBytes;
    private final String holders;

    /**
     * @param device whose memory is exhausted
     * @param requestedBytes size of the allocation that failed
     * @param found what is free and who else holds memory, for the message
     * @param hint what helps, without the word HINT
     * @param cause the virtual machine's own error, or null
     */
    public OutOfMemoryException(
            Device device, long requestedBytes, String found, String hint, @Nullable Throwable cause) {
        this(device, requestedBytes, found, heldByThisThread(), hint, cause);
    }

    private OutOfMemoryException(
            Device device, long requestedBytes, String found, String holders, String hint, @Nullable Throwable cause) {
        super(
                "out of memory on " + device + ": asked for " + requestedBytes + " bytes, " + found
                        + "; on this thread " + holders + "; HINT: " + hint,
                cause);
        this.device = device;
        this.requestedBytes = requestedBytes;
        this.holders = holders;
    }

    private OutOfMemoryException(String found, String holders, OutOfMemoryError cause) {
        super(
                "out of memory on " + Device.CPU + ": " + found + "; on this thread " + holders
                        + "; HINT: open a Scope per step and close it, raise the heap with -Xmx, use a smaller batch, or more"
                        + " ranks",
                cause);
        this.device = Device.CPU;
        this.requestedBytes = 0;
        this.holders = holders;
    }

    /** The virtual machine's own error, thrown anywhere in a rank's program, as this library's. */
    public static OutOfMemoryException ofHost(OutOfMemoryError error) {
        Runtime runtime = Runtime.getRuntime();
        String found =
                "the virtual machine says '" + error.getMessage() + "', with " + runtime.maxMemory() + " bytes of heap";
        return new OutOfMemoryException(found, heldByThisThread(), error);
    }

    private static String heldByThisThread() {
        Scope scope = ExecutionContext.current().scope();
        return scope == null ? "no scope is open" : scope.describeHoldings();
    }

    /** The device whose memory is exhausted. */
    public Device device() {
        return device;
    }

    /** Size of the allocation that failed; 0 if it is not known. */
    public long requestedBytes() {
        return requestedBytes;
    }

    /** What the open scopes of the thread hold, innermost first, in words. */
    public String holders() {
        return holders;
    }
}
