package org.tp4j.cuda.internal.driver;

import jcuda.driver.CUresult;
import jcuda.driver.JCudaDriver;
import org.tp4j.cuda.stream.CudaException;

/** Turns the driver's result codes into exceptions. */
public final class Cuda {
    private Cuda() {}

    /**
     * Checks the result of a driver call.
     *
     * @throws CudaException if it is an error
     */
    public static void check(int result, String call) {
        if (result != CUresult.CUDA_SUCCESS) {
            throw error(result, call);
        }
    }

    /** The exception for an error. */
    static CudaException error(int result, String call) {
        String name = CUresult.stringFor(result);
        String[] words = {null};
        String meaning = JCudaDriver.cuGetErrorString(result, words) == 0 && words[0] != null && !words[0].equals(name)
                ? " (" + words[0] + ")"
                : "";
        return new CudaException(result, name, call, call + ": " + name + meaning + hint(result));
    }

    private static String hint(int result) {
        return switch (result) {
            case CUresult.CUDA_ERROR_ILLEGAL_ADDRESS,
                    CUresult.CUDA_ERROR_LAUNCH_FAILED,
                    CUresult.CUDA_ERROR_ASSERT,
                    CUresult.CUDA_ERROR_MISALIGNED_ADDRESS ->
                "; an earlier kernel failed, and this process can use the device no"
                        + " more; HINT: run it with CUDA_LAUNCH_BLOCKING=1 to see which, and report it";
            case CUresult.CUDA_ERROR_NO_BINARY_FOR_GPU ->
                "; HINT: NVRTC does not know this GPU: install a newer CUDA" + " toolkit";
            case CUresult.CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                    CUresult.CUDA_ERROR_STREAM_CAPTURE_INVALIDATED,
                    CUresult.CUDA_ERROR_STREAM_CAPTURE_IMPLICIT ->
                "; HINT: while a step is captured nothing may wait for the"
                        + " device or read a value: take the reading out of the step";
            default -> "";
        };
    }
}
