package org.tp4j.cuda.stream;

import org.tp4j.tensor.DeviceException;

/** A CUDA driver call failed. */
public class CudaException extends DeviceException {
    private static final long serialVersionUID = 1L;

    private final int code;
    private final String errorName;
    private final String call;

    /**
     * A failure.
     *
     * @param code the driver's {@code CUresult}
     * @param errorName its name, such as {@code CUDA_ERROR_ILLEGAL_ADDRESS}
     * @param call the driver function
     * @param message the full message
     */
    public CudaException(int code, String errorName, String call, String message) {
        super(message);
        this.code = code;
        this.errorName = errorName;
        this.call = call;
    }

    /** The driver's {@code CUresult}. */
    public int code() {
        return code;
    }

    /** Its name, such as {@code CUDA_ERROR_ILLEGAL_ADDRESS}. */
    public String errorName() {
        return errorName;
    }

    /** The driver function that failed. */
    public String call() {
        return call;
    }
}
