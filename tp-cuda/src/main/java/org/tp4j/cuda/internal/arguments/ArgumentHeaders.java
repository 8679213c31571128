package org.tp4j.cuda.internal.arguments;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** The argument structs as C++, one header for each source: {@code softmax.cu} includes {@code softmax_args.cuh}. */
public final class ArgumentHeaders {
    private static final Map<String, List<ArgumentStruct>> BY_SOURCE = Map.ofEntries(
            Map.entry("unary", ElementwiseArguments.OF_UNARY),
            Map.entry("binary", ElementwiseArguments.OF_BINARY),
            Map.entry("broadcast", ElementwiseArguments.OF_BROADCAST),
            Map.entry("order", ElementwiseArguments.OF_ORDER),
            Map.entry("cast", ElementwiseArguments.OF_CAST),
            Map.entry("fused", ElementwiseArguments.OF_FUSED),
            Map.entry("copy", CopyArguments.OF_COPY),
            Map.entry("random", CopyArguments.OF_RANDOM),
            Map.entry("softmax", RowArguments.OF_SOFTMAX),
            Map.entry("norm", RowArguments.OF_NORM),
            Map.entry("reduce", RowArguments.OF_REDUCE),
            Map.entry("embedding", EmbeddingArguments.OF_EMBEDDING),
            Map.entry("ids", EmbeddingArguments.OF_IDS),
            Map.entry("optimizer", OptimizerArguments.OF_OPTIMIZER));

    private ArgumentHeaders() {}

    /** Their text by name. */
    public static Map<String, String> all() {
        Map<String, String> headers = new TreeMap<>();
        BY_SOURCE.forEach((source, structs) -> headers.put(
                source + "_args.cuh",
                structs.stream()
                        .map(ArgumentStruct::cpp)
                        .collect(Collectors.joining(
                                "\n",
                                "// Generated from Java: the arguments of " + source + ".cu\n#pragma once\n",
                                ""))));
        return headers;
    }
}
