package org.tp4j.tests.conformance;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.tp4j.tensor.Shape;

/**
 * The index of a folder of reference vectors: {@code index.json}, a list of cases, each with a name, a description, settings
 * and its tensors' types and shapes.
 *
 * @param cases the cases that can be told, in order
 * @param broken what is wrong with the others, by name
 */
public record ReferenceIndex(List<ReferenceCase> cases, Map<String, String> broken) {
    /** The file's name. */
    public static final String FILE = "index.json";

    private static final ObjectMapper JSON = new ObjectMapper();

    /** Reads a folder's index; what cannot be read is told in {@link #broken}. */
    public static ReferenceIndex read(Path folder) {
        Path file = folder.resolve(FILE);
        if (!Files.isRegularFile(file)) {
            return unreadable("there is no " + file + "; HINT: name a folder of reference vectors, which holds one");
        }
        try {
            JsonNode list = JSON.readTree(file.toFile());
            if (!list.isArray()) {
                return unreadable(file + " holds no list of cases");
            }
            ReferenceIndex index = new ReferenceIndex(new ArrayList<>(), new LinkedHashMap<>());
            for (int i = 0; i < list.size(); i++) {
                index.add(folder, list.get(i), i);
            }
            return index;
        } catch (JsonProcessingException e) {
            return unreadable(file + " is not JSON: " + e.getOriginalMessage());
        } catch (IOException e) {
            return unreadable(file + " cannot be read: " + e.getMessage());
        }
    }

    private static ReferenceIndex unreadable(String why) {
        return new ReferenceIndex(List.of(), Map.of(FILE, why));
    }

    private void add(Path folder, JsonNode entry, int place) {
        String name = entry.path("name").asText("");
        if (name.isEmpty()) {
            broken.put("entry_" + place, "the index gives it no name");
            return;
        }
        try {
            Map<String, JsonNode> settings = new LinkedHashMap<>();
            entry.path("meta").properties().forEach(s -> settings.put(s.getKey(), s.getValue()));
            Map<String, ReferenceCase.Facts> tensors = new LinkedHashMap<>();
            entry.path("tensors").properties().forEach(t -> tensors.put(t.getKey(), facts(t.getKey(), t.getValue())));
            Path file = folder.resolve(name + ".safetensors");
            cases.add(new ReferenceCase(name, entry.path("about").asText(""), settings, tensors, file));
        } catch (IllegalArgumentException e) {
            broken.put(name, e.getMessage());
        }
    }

    private static ReferenceCase.Facts facts(String tensor, JsonNode facts) {
        if (!facts.path(0).isTextual() || !facts.path(1).isArray()) {
            throw new IllegalArgumentException(
                    "the index says of tensor '" + tensor + "' " + facts + ", not its type and its sizes");
        }
        long[] sizes = new long[facts.get(1).size()];
        for (int d = 0; d < sizes.length; d++) {
            sizes[d] = facts.get(1).get(d).asLong(-1);
        }
        return new ReferenceCase.Facts(facts.get(0).asText(), Shape.of(sizes));
    }
}
