package org.tp4j.cudasim;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import jcuda.nvrtc.JNvrtc;
import jcuda.nvrtc.nvrtcProgram;
import jcuda.nvrtc.nvrtcResult;

/** Compiles kernels through JCuda's NVRTC binding. */
final class Nvrtc {
    /** What came of it: the result's name, the log, and the cubin (empty when it failed or was not asked for). */
    record Compiled(String result, String log, byte[] cubin) {}

    private Nvrtc() {}

    static String resource(String name) {
        try (InputStream in = Nvrtc.class.getResourceAsStream(name)) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    /** The probes of this package. */
    static byte[] probes() {
        Compiled compiled = compile(resource("probes.cu"), "--gpu-architecture=sm_90");
        if (compiled.cubin().length == 0) {
            throw new IllegalStateException(compiled.result() + ": " + compiled.log());
        }
        return compiled.cubin();
    }

    static Compiled compile(String source, String... options) {
        nvrtcProgram program = new nvrtcProgram();
        String[] headers = {resource("probes.cuh")};
        JNvrtc.nvrtcCreateProgram(program, source, "probes.cu", 1, headers, new String[] {"probes.cuh"});
        int result = JNvrtc.nvrtcCompileProgram(program, options.length, options);
        String[] log = new String[1];
        JNvrtc.nvrtcGetProgramLog(program, log);
        long[] bytes = new long[1];
        JNvrtc.nvrtcGetCUBINSize(program, bytes);
        byte[] cubin = new byte[(int) bytes[0]];
        if (cubin.length > 0) {
            JNvrtc.nvrtcGetCUBIN(program, cubin);
        }
        JNvrtc.nvrtcDestroyProgram(program);
        return new Compiled(nvrtcResult.stringFor(result), log[0], cubin);
    }
}
