package org.tp4j.cuda;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import jcuda.driver.CUfunction;
import jcuda.driver.CUmodule;
import jcuda.driver.JCudaDriver;
import org.tp4j.tensor.DType;

/**
 * The kernels of one device. Each source file among the resources is compiled once for every element type asked for, when
 * it is first asked for, with the macro {@code SCALAR} naming the type.
 */
final class Kernels {
    private static final List<String> HEADERS = List.of("tp4j.cuh", "loops.cuh", "functions.cuh", "rows.cuh");

    private final CudaDevice device;
    private final CudaStream stream;
    private final KernelCompiler compiler;
    private final Map<String, CUmodule> modules = new HashMap<>();

    Kernels(CudaDevice device, CudaStream stream) {
        this.device = device;
        this.stream = stream;
        this.compiler = new KernelCompiler(device.computeCapability());
    }

    /** The device's properties, for choosing grids. */
    CudaDevice device() {
        return device;
    }

    /**
     * A kernel.
     *
     * @param file source file without {@code .cu}
     * @param scalar the element type it is compiled for
     * @param name its function
     */
    synchronized Kernel get(String file, DType scalar, String name) {
        device.makeCurrent();
        CUmodule module = modules.computeIfAbsent(file + " " + scalar, key -> load(file, scalar));
        CUfunction function = new CUfunction();
        Cuda.check(JCudaDriver.cuModuleGetFunction(function, module, name), "kernel " + name + " of " + file + ".cu");
        return new Kernel(device, stream, function, name);
    }

    private CUmodule load(String file, DType scalar) {
        String source = resource(file + ".cu");
        Map<String, String> headers = headers();
        List<String> defines = defines(scalar);
        List<String> parts = new ArrayList<>(List.of(source, compiler.description(), nvrtcIdentity()));
        parts.addAll(headers.values());
        parts.addAll(defines);
        byte[] image = KernelCache.get(
                file + "-" + scalar + "-" + compiler.architecture(),
                parts,
                () -> compiler.compile(file + ".cu", source, headers, defines));
        CUmodule module = new CUmodule();
        Cuda.check(JCudaDriver.cuModuleLoadData(module, image), "cuModuleLoadData of " + file);
        return module;
    }

    /** The text of what sources include, by name. */
    static Map<String, String> headers() {
        Map<String, String> headers = new LinkedHashMap<>();
        HEADERS.forEach(header -> headers.put(header, resource(header)));
        return headers;
    }

    /** The macros a source is compiled with for an element type. */
    static List<String> defines(DType scalar) {
        return List.of("SCALAR=" + typeName(scalar), "SCALAR_IS_" + scalar.name());
    }

    /** The C type of an element in memory. */
    private static String typeName(DType type) {
        return switch (type) {
            case FLOAT32 -> "float";
            case FLOAT64 -> "double";
            case BFLOAT16 -> "bfloat16";
            case FLOAT16 -> "float16";
            case INT32 -> "int";
            case INT64 -> "int64";
            case BOOL -> "bool8";
        };
    }

    private static String resource(String name) {
        try (InputStream in = Kernels.class.getResourceAsStream(name)) {
            if (in == null) {
                throw new IllegalStateException("the jar lacks " + name);
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Tells one build of a compiler from another of the same version. */
    private static String nvrtcIdentity() {
        Path file = Path.of(CudaLibraries.load().nvrtcPath());
        try {
            return Files.size(file) + " " + Files.getLastModifiedTime(file);
        } catch (IOException e) {
            return "unknown";
        }
    }

    synchronized void release() {
        device.makeCurrent();
        modules.values().forEach(JCudaDriver::cuModuleUnload);
        modules.clear();
    }
}
