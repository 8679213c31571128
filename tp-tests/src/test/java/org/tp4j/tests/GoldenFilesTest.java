package org.tp4j.tests;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.tp4j.checkpoint.SafetensorsFile;
import org.tp4j.checkpoint.SafetensorsWriter;
import org.tp4j.tensor.Backend;
import org.tp4j.tensor.Backends;
import org.tp4j.tensor.Device;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Region;
import org.tp4j.tensor.Scope;
import org.tp4j.tensor.Shape;

/** The files of the reference vectors, written by PyTorch: read, cut into shards, put together and written again. */
@SuppressWarnings("try") // scopes that only own
class GoldenFilesTest {
    private static final Backend CPU = Backends.of(Device.CPU);

    @TempDir
    Path folder;

    private static Path golden(String name) {
        try {
            return Path.of(GoldenFilesTest.class.getResource("/golden/" + name).toURI());
        } catch (URISyntaxException e) {
            throw new AssertionError(e);
        }
    }

    static Stream<JsonNode> cases() throws IOException {
        JsonNode index = new ObjectMapper().readTree(golden("index.json").toFile());
        return StreamSupport.stream(index.spliterator(), false);
    }

    @ParameterizedTest
    @MethodSource("cases")
    void shouldHoldWhatTheIndexSays(JsonNode about) throws IOException {
        try (SafetensorsFile file =
                SafetensorsFile.open(golden(about.get("name").asText() + ".safetensors"))) {
            JsonNode tensors = about.get("tensors");
            assertThat(file.names()).containsExactlyInAnyOrderElementsOf(tensors::fieldNames);
            for (String name : file.names()) {
                assertThat(file.entry(name).dtype())
                        .hasToString(tensors.get(name).get(0).asText());
                assertThat(file.entry(name).shape().toString().replace(" ", ""))
                        .isEqualTo(tensors.get(name).get(1).toString());
            }
            for (var setting : about.get("meta").properties()) {
                assertThat(new ObjectMapper().readTree(file.metadata().get(setting.getKey())))
                        .isEqualTo(setting.getValue());
            }
        }
    }

    @ParameterizedTest
    @MethodSource("cases")
    void shouldComeOutTheSameWhenWrittenAgain(JsonNode about) {
        Path again = folder.resolve("again.safetensors");
        try (SafetensorsFile file =
                        SafetensorsFile.open(golden(about.get("name").asText() + ".safetensors"));
                Scope scope = Scope.open("golden")) {
            SafetensorsWriter writer = new SafetensorsWriter(again);
            file.metadata().forEach(writer::metadata);
            for (String name : file.names()) {
                writer.add(name, read(file, name));
            }
            writer.write();
            try (SafetensorsFile copy = SafetensorsFile.open(again)) {
                assertThat(copy.metadata()).isEqualTo(file.metadata());
                assertThat(copy.names()).containsExactlyInAnyOrderElementsOf(file.names());
                for (String name : file.names()) {
                    assertThat(copy.entry(name).type())
                            .isEqualTo(file.entry(name).type());
                    assertThat(copy.entry(name).shape())
                            .isEqualTo(file.entry(name).shape());
                    assertThat(copy.read(name)).isEqualTo(file.read(name));
                }
            }
        }
    }

    @ParameterizedTest
    @MethodSource("cases")
    void shouldBeTheSumOfItsShards(JsonNode about) {
        try (SafetensorsFile file =
                SafetensorsFile.open(golden(about.get("name").asText() + ".safetensors"))) {
            for (String name : file.names()) {
                Shape shape = file.entry(name).shape();
                for (int dim = 0; dim < shape.dims(); dim++) {
                    try (Scope scope = Scope.open("shards")) {
                        assertThat(Shards.join(shards(file, name, dim), dim))
                                .as("%s cut along %d", name, dim)
                                .isEqualTo(Shards.bytes(read(file, name)));
                    }
                }
            }
        }
    }

    private static NdArray read(SafetensorsFile file, String name) {
        NdArray array =
                NdArray.allocate(CPU, file.entry(name).dtype(), file.entry(name).shape());
        file.readInto(name, array);
        return array;
    }

    /** The tensor's pieces of ceil(n / 3) along one dimension, the last ones shorter or empty. */
    private static List<NdArray> shards(SafetensorsFile file, String name, int dim) {
        Shape shape = file.entry(name).shape();
        long size = shape.size(dim);
        long each = (size + 2) / 3;
        List<NdArray> shards = new ArrayList<>();
        for (int rank = 0; rank < 3; rank++) {
            long begin = Math.min(size, rank * each);
            long[] offsets = new long[shape.dims()];
            offsets[dim] = begin;
            Region region = new Region(shape, shape.with(dim, Math.min(size, begin + each) - begin), offsets);
            NdArray shard = NdArray.allocate(CPU, file.entry(name).dtype(), region.local());
            file.readRegion(name, region, shard);
            shards.add(shard);
        }
        return shards;
    }
}
