package org.tp4j.checkpoint;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Files made byte by byte, and the shared cases. */
final class TestFiles {
    private TestFiles() {}

    /** A file of the given header and data, the length in front. */
    static byte[] of(String header, byte... data) {
        byte[] text = header.getBytes(StandardCharsets.UTF_8);
        return ByteBuffer.allocate(8 + text.length + data.length)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putLong(text.length)
                .put(text)
                .put(data)
                .array();
    }

    /** A file written to a folder, under a name not taken yet. */
    static Path write(Path folder, byte[] content) throws IOException {
        return Files.write(Files.createTempFile(folder, "case", ".safetensors"), content);
    }

    /** A case of src/test/resources/cases as maps, lists, strings, numbers. */
    @SuppressWarnings("unchecked")
    static Map<String, Object> loadCase(String id) throws IOException {
        try (InputStream in = TestFiles.class.getResourceAsStream("/cases/" + id + ".json");
                JsonParser json = new JsonFactory().createParser(in)) {
            json.nextToken();
            return (Map<String, Object>) value(json);
        }
    }

    private static Object value(JsonParser json) throws IOException {
        switch (json.currentToken()) {
            case START_OBJECT -> {
                Map<String, Object> map = new LinkedHashMap<>();
                while (json.nextToken() == JsonToken.FIELD_NAME) {
                    String name = json.currentName();
                    json.nextToken();
                    map.put(name, value(json));
                }
                return map;
            }
            case START_ARRAY -> {
                List<Object> list = new ArrayList<>();
                while (json.nextToken() != JsonToken.END_ARRAY) {
                    list.add(value(json));
                }
                return list;
            }
            case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT -> {
                return json.getDoubleValue();
            }
            default -> {
                return json.getText();
            }
        }
    }
}
