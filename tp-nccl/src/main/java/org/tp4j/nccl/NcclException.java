package org.tp4j.nccl;

import org.tp4j.tensor.TpException;

/** A call of NCCL's failed. */
public class NcclException extends TpException {
    private static final long serialVersionUID = 1L;

    private final int result;
    private final String call;
    private final String lastError;

    /**
     * A failure.
     *
     * @param result what NCCL returned, one of {@link NcclResult}
     * @param call the function, such as {@code ncclCommInitRank}
     * @param meaning what NCCL says that the result means
     * @param lastError what NCCL says about this failure; empty if nothing
     */
    public NcclException(int result, String call, String meaning, String lastError) {
        super(call + " failed with " + NcclResult.name(result) + " (" + meaning + ")"
                + (lastError.isEmpty() ? "" : ": " + lastError)
                + "; HINT: NCCL says more with NCCL_DEBUG=WARN in the environment");
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

    /** What NCCL says about this failure; empty if nothing. */
    public String lastError() {
        return lastError;
    }
}
