package org.tp4j.tests.optim;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.nio.file.Path;
import org.tp4j.autograd.Tensors;
import org.tp4j.checkpoint.SafetensorsFile;
import org.tp4j.tensor.Backend;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Tensor;

/** One case of the reference vectors. */
final class Golden implements AutoCloseable {
    private final SafetensorsFile file;

    Golden(String name) {
        try {
            file = SafetensorsFile.open(Path.of(
                    Golden.class.getResource("/golden/" + name + ".safetensors").toURI()));
        } catch (URISyntaxException e) {
            throw new AssertionError(e);
        }
    }

    /** A setting, JSON null where there is none. */
    JsonNode setting(String key) {
        try {
            return new ObjectMapper().readTree(file.metadata().getOrDefault(key, "null"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    double number(String key, double otherwise) {
        return setting(key).asDouble(otherwise);
    }

    Tensor tensor(Backend backend, String name) {
        NdArray array = NdArray.allocate(
                backend, file.entry(name).dtype(), file.entry(name).shape());
        file.readInto(name, array);
        return Tensors.of(array);
    }

    @Override
    public void close() {
        file.close();
    }
}
