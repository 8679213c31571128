package org.tp4j.tests.conformance;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.tp4j.checkpoint.SafetensorsWriter;
import org.tp4j.tensor.Tensor;

/** Writes a folder in the format of the reference vectors. */
final class VectorFolder {
    private final Path folder;
    private final List<Map<String, Object>> index = new ArrayList<>();

    VectorFolder(Path folder) {
        this.folder = folder;
    }

    Path path() {
        return folder;
    }

    VectorFolder add(String name, String about, Map<String, ?> settings, Map<String, Tensor> tensors) {
        SafetensorsWriter writer = new SafetensorsWriter(folder.resolve(name + ".safetensors"));
        Map<String, Object> facts = new LinkedHashMap<>();
        tensors.forEach((n, tensor) -> {
            writer.add(n, tensor.local());
            facts.put(n, List.of(tensor.dtype().toString(), tensor.shape().toArray()));
        });
        writer.write();
        index.add(Map.of("name", name, "about", about, "meta", settings, "tensors", facts));
        return this;
    }

    Path write() throws IOException {
        new ObjectMapper().writeValue(folder.resolve(ReferenceIndex.FILE).toFile(), index);
        return folder;
    }
}
