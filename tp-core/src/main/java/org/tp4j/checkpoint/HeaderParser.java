package org.tp4j.checkpoint;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CharsetEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.tp4j.tensor.Shape;

/**
 * Parses the JSON of a header, strictly: anything the format does not define is an error. Memory use is bounded by the
 * length of the header.
 */
final class HeaderParser {
    /** Name of the free text among the tensors. */
    static final String METADATA = "__metadata__";

    /** As many dimensions as the tensors of PyTorch and NumPy can have. */
    static final int MAX_DIMS = 64;

    /**
     * Without a symbol table (each name comes once, and colliding ones could be chosen), and with no limit on strings but the
     * header's own.
     */
    private static final JsonFactory JSON = JsonFactory.builder()
            .disable(JsonFactory.Feature.CANONICALIZE_FIELD_NAMES)
            .disable(JsonFactory.Feature.INTERN_FIELD_NAMES)
            .streamReadConstraints(StreamReadConstraints.builder()
                    .maxNameLength(SafetensorsHeader.MAX_HEADER_BYTES)
                    .maxStringLength(SafetensorsHeader.MAX_HEADER_BYTES)
                    .build())
            .build();

    /** The parsed text, names in its order; ranges are not yet checked against the file. */
    record Result(Map<String, SafetensorsEntry> entries, Map<String, String> metadata) {}

    private final Path file;
    private final CharsetEncoder utf8 = StandardCharsets.UTF_8.newEncoder();

    HeaderParser(Path file) {
        this.file = file;
    }

    Result parse(byte[] header) {
        if (header.length == 0 || header[0] != '{') {
            throw error(null, "header does not begin with '{'; HINT: it is not a safetensors file, or is damaged");
        }
        CharsetDecoder strict =
                StandardCharsets.UTF_8.newDecoder(); // reports malformed input, unlike a charset's reader
        try (JsonParser json = JSON.createParser(new InputStreamReader(new ByteArrayInputStream(header), strict))) {
            json.nextToken();
            Result result = tensors(json);
            if (json.nextToken() != null) {
                throw error(null, "something follows the header's closing brace");
            }
            return result;
        } catch (JsonProcessingException e) {
            throw error(null, "header is not JSON: " + Quoted.message(e.getOriginalMessage()), e);
        } catch (CharacterCodingException e) {
            throw error(null, "header is not UTF-8", e);
        } catch (IOException e) {
            throw error(null, "header cannot be read: " + e.getMessage(), e);
        }
    }

    private Result tensors(JsonParser json) throws IOException {
        Map<String, SafetensorsEntry> entries = new LinkedHashMap<>();
        Map<String, String> metadata = null;
        while (json.nextToken() == JsonToken.FIELD_NAME) {
            String name = wellFormed(json.currentName());
            json.nextToken();
            if (name.equals(METADATA)) {
                if (metadata != null) {
                    throw error(null, METADATA + " appears twice in the header");
                }
                metadata = metadata(json);
            } else if (entries.containsKey(name)) {
                throw error(name, "appears twice in the header");
            } else {
                entries.put(name, entry(json, name));
            }
        }
        return new Result(
                Collections.unmodifiableMap(entries),
                metadata == null ? Map.of() : Collections.unmodifiableMap(metadata));
    }

    private Map<String, String> metadata(JsonParser json) throws IOException {
        if (json.currentToken() != JsonToken.START_OBJECT) {
            throw error(null, METADATA + " is not an object");
        }
        Map<String, String> metadata = new LinkedHashMap<>();
        while (json.nextToken() == JsonToken.FIELD_NAME) {
            String name = wellFormed(json.currentName());
            if (json.nextToken() != JsonToken.VALUE_STRING) {
                throw error(null, METADATA + " holds a value that is not a string, under " + Quoted.of(name));
            }
            if (metadata.put(name, wellFormed(json.getText())) != null) {
                throw error(null, METADATA + " holds " + Quoted.of(name) + " twice");
            }
        }
        return metadata;
    }

    private SafetensorsEntry entry(JsonParser json, String tensor) throws IOException {
        if (json.currentToken() != JsonToken.START_OBJECT) {
            throw error(tensor, "its description is not an object");
        }
        SafetensorsType type = null;
        Shape shape = null;
        long[] range = null;
        while (json.nextToken() == JsonToken.FIELD_NAME) {
            String field = json.currentName();
            json.nextToken();
            boolean again = switch (field) {
                case "dtype" -> type != null;
                case "shape" -> shape != null;
                case "data_offsets" -> range != null;
                default -> throw error(tensor, "unknown field " + Quoted.of(field));
            };
            if (again) {
                throw error(tensor, "field '" + field + "' appears twice");
            }
            switch (field) {
                case "dtype" -> type = type(json, tensor);
                case "shape" -> shape = shape(json, tensor);
                default -> range = range(json, tensor);
            }
        }
        if (type == null || shape == null || range == null) {
            String missing = type == null ? "dtype" : shape == null ? "shape" : "data_offsets";
            throw error(tensor, "field '" + missing + "' is missing");
        }
        try {
            return new SafetensorsEntry(tensor, type, shape, range[0], range[1]);
        } catch (IllegalArgumentException e) {
            throw error(tensor, String.valueOf(e.getMessage()), e);
        }
    }

    private SafetensorsType type(JsonParser json, String tensor) throws IOException {
        if (json.currentToken() != JsonToken.VALUE_STRING) {
            throw error(tensor, "dtype is not a string");
        }
        String name = json.getText();
        return SafetensorsType.of(name)
                .orElseThrow(() -> error(
                        tensor,
                        "unknown dtype " + Quoted.of(name) + "; the format has "
                                + Arrays.toString(SafetensorsType.values())));
    }

    private Shape shape(JsonParser json, String tensor) throws IOException {
        if (json.currentToken() != JsonToken.START_ARRAY) {
            throw error(tensor, "shape is not an array");
        }
        long[] sizes = new long[MAX_DIMS];
        int dims = 0;
        while (json.nextToken() != JsonToken.END_ARRAY) {
            if (dims == MAX_DIMS) {
                throw error(tensor, "shape has more than " + MAX_DIMS + " dimensions");
            }
            sizes[dims] = number(json, tensor, "size of dimension " + dims);
            dims++;
        }
        try {
            return Shape.of(Arrays.copyOf(sizes, dims));
        } catch (IllegalArgumentException e) {
            throw error(tensor, String.valueOf(e.getMessage()), e);
        }
    }

    private long[] range(JsonParser json, String tensor) throws IOException {
        if (json.currentToken() != JsonToken.START_ARRAY) {
            throw error(tensor, "data_offsets is not an array");
        }
        long[] range = new long[2];
        for (int i = 0; i < 2; i++) {
            if (json.nextToken() == JsonToken.END_ARRAY) {
                throw error(tensor, "data_offsets has " + i + " of 2 numbers");
            }
            range[i] = number(json, tensor, "data_offsets[" + i + "]");
        }
        if (json.nextToken() != JsonToken.END_ARRAY) {
            throw error(tensor, "data_offsets has more than 2 numbers");
        }
        return range;
    }

    private long number(JsonParser json, String tensor, String what) throws IOException {
        if (json.currentToken() != JsonToken.VALUE_NUMBER_INT) {
            throw error(tensor, what + " is not a whole number");
        }
        String digits = json.getText();
        if (digits.startsWith("-")) {
            throw error(tensor, what + " is negative: " + digits);
        }
        try {
            return Long.parseLong(digits);
        } catch (NumberFormatException e) {
            throw error(tensor, what + " is above 2^63 - 1: " + Quoted.of(digits), e);
        }
    }

    /** Refuses unpaired surrogates, which JSON can escape but UTF-8 cannot encode. */
    private String wellFormed(String text) {
        if (!utf8.canEncode(text)) {
            throw error(null, "header holds an unpaired surrogate, in " + Quoted.of(text));
        }
        return text;
    }

    private SafetensorsException error(@Nullable String tensor, String reason) {
        return new SafetensorsException(file, tensor, reason);
    }

    private SafetensorsException error(@Nullable String tensor, String reason, Throwable cause) {
        return new SafetensorsException(file, tensor, reason, cause);
    }
}
