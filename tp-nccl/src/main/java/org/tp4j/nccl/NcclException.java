package org.tp4j.nccl;

import org.tp4j.tensor.TpException;

/** An NCCL call failed. */
public class NcclException extends TpException {
    private static final long serialVersionUID = 1L;

    private final int result;
    private final String call;
    private final String lastError;

    /**
     * A failed call.
     *
     * @param result what NCCL returned, one of {@link NcclResult}
     * @param call the function, such as {@code ncclCommInitRank}
     * @param meaning NCCL's description of the result
     * @param lastError NCCL's text of this error; empty if none
     */
    public NcclException(int result, String call, String meaning, String lastError) {
        super(call + " failed with " + NcclResult.name(result) + " (" + meaning + ")"
                + (lastError.isEmpty() ? "" : ": " + lastError)
                + "; HINT: NCCL logs more with NCCL_DEBUG=WARN in the environment");
        this.result = result;
        this.call = call;
        this.lastError = lastError;
    }

    /** What NCCL returned, one of {@link NcclResult}. */
    public int result() {
        return result;
    }

    /** The function that failed. */
    public String call() {
        return call;
    }

    /** NCCL's text of this error; empty if none. */
    public String lastError() {
        return lastError;
    }
}
