package org.tp4j.cuda.internal.compile;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import jcuda.nvrtc.JNvrtc;
import jcuda.nvrtc.nvrtcProgram;
import jcuda.nvrtc.nvrtcResult;
import org.tp4j.tensor.TpException;

/** Compiles CUDA C++ for one device with NVRTC. Needs no CUDA headers: the sources use only compiler builtins. */
final class KernelCompiler {
    private final String architecture;
    private final boolean binary;
    private final String version;

    /** A compiler for devices of a compute capability, such as 90. */
    KernelCompiler(int computeCapability) {
        int[] major = {0};
        int[] minor = {0};
        check(JNvrtc.nvrtcVersion(major, minor), "nvrtcVersion");
        this.version = major[0] + "." + minor[0];
        int[] count = {0};
        check(JNvrtc.nvrtcGetNumSupportedArchs(count), "nvrtcGetNumSupportedArchs");
        int[] known = new int[count[0]];
        check(JNvrtc.nvrtcGetSupportedArchs(known), "nvrtcGetSupportedArchs");
        int best = Arrays.stream(known)
                .filter(n -> n <= computeCapability)
                .max()
                .orElseThrow(() -> new TpException("NVRTC " + version + " compiles for compute capabilities "
                        + Arrays.toString(known) + ", this device has " + computeCapability
                        + "; HINT: devices as old as this need the libraries of CUDA 12"));
        // A device newer than the compiler: PTX, which the driver compiles.
        this.binary = best == computeCapability;
        this.architecture = (binary ? "sm_" : "compute_") + best;
    }

    /** Everything a compiled kernel depends on besides its source. */
    String description() {
        return "nvrtc " + version + " " + architecture;
    }

    /** The target architecture, such as {@code sm_90}. */
    String architecture() {
        return architecture;
    }

    /**
     * Compiles a source.
     *
     * @param name file name for messages
     * @param headers text of the headers it includes, by name
     * @param defines macros, such as {@code SCALAR=float}
     * @return an image for {@code cuModuleLoadData}
     * @throws TpException with the compiler's output if it does not compile
     */
    byte[] compile(String name, String source, Map<String, String> headers, List<String> defines) {
        nvrtcProgram program = new nvrtcProgram();
        String[] names = headers.keySet().toArray(String[]::new);
        String[] texts = headers.values().toArray(String[]::new);
        check(JNvrtc.nvrtcCreateProgram(program, source, name, names.length, texts, names), "nvrtcCreateProgram");
        try {
            // All code is device code, so lambdas need no __device__ as they do in nvcc.
            List<String> options =
                    new ArrayList<>(List.of("--gpu-architecture=" + architecture, "--std=c++17", "-default-device"));
            defines.forEach(define -> options.add("--define-macro=" + define));
            int result = JNvrtc.nvrtcCompileProgram(program, options.size(), options.toArray(String[]::new));
            if (result != nvrtcResult.NVRTC_SUCCESS) {
                throw new TpException("NVRTC " + version + " does not compile " + name + " for " + architecture + ": "
                        + nvrtcResult.stringFor(result) + log(program));
            }
            return binary ? binary(program) : text(program);
        } finally {
            JNvrtc.nvrtcDestroyProgram(program);
        }
    }

    private static byte[] binary(nvrtcProgram program) {
        long[] size = {0};
        check(JNvrtc.nvrtcGetCUBINSize(program, size), "nvrtcGetCUBINSize");
        byte[] content = new byte[Math.toIntExact(size[0])];
        check(JNvrtc.nvrtcGetCUBIN(program, content), "nvrtcGetCUBIN");
        return content;
    }

    private static byte[] text(nvrtcProgram program) {
        String[] text = {null};
        check(JNvrtc.nvrtcGetPTX(program, text), "nvrtcGetPTX");
        return (text[0] + "\0").getBytes(java.nio.charset.StandardCharsets.US_ASCII);
    }

    private static String log(nvrtcProgram program) {
        String[] log = {null};
        return JNvrtc.nvrtcGetProgramLog(program, log) == nvrtcResult.NVRTC_SUCCESS && log[0] != null
                ? "\n" + log[0].strip()
                : "";
    }

    private static void check(int result, String call) {
        if (result != nvrtcResult.NVRTC_SUCCESS) {
            throw new TpException(call + ": " + nvrtcResult.stringFor(result));
        }
    }
}
