package org.tp4j.tests.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.tp4j.autograd.Tensors;
import org.tp4j.nn.GatedMlp;
import org.tp4j.nn.Layer;
import org.tp4j.nn.Linear;
import org.tp4j.nn.Mlp;
import org.tp4j.tensor.Activation;
import org.tp4j.tensor.Backend;
import org.tp4j.tensor.Backends;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.Device;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.Tensor;

/** Folders other than the shipped one: other sizes and names, and broken ones. */
class VectorFolderTest {
    private static final Backend CPU = Backends.of(Device.CPU);

    @TempDir
    Path folder;

    /** A case computed by one rank. */
    private static Map<String, Tensor> moduleCase(Layer model, Shape input) {
        model.materialize(CPU, DType.FLOAT32, 5);
        Tensor x = Tensors.normal(CPU, DType.FLOAT32, input, 0, 1, 5, 1).requiresGrad(true);
        Tensor y = model.apply(x);
        Tensor weights = Tensors.normal(CPU, DType.FLOAT32, y.shape(), 0, 1, 5, 2);
        y.mul(weights).sum().backward();
        Map<String, Tensor> tensors = new LinkedHashMap<>();
        tensors.put("x", x);
        tensors.put("y", y);
        tensors.put("grad_y", weights);
        tensors.put("grad_x", x.grad());
        model.parameters().forEach((name, parameter) -> {
            tensors.put("param." + name, parameter.tensor());
            tensors.put("grad." + name, parameter.tensor().grad());
        });
        return tensors;
    }

    @ParameterizedTest
    @EnumSource(Activation.class)
    void shouldInferTheActivationFromTheOutputIfItIsNotNamed(Activation activation) throws IOException {
        new VectorFolder(folder)
                .add("case_1", "", Map.of(), moduleCase(new Mlp(3, 5, activation, true), Shape.of(4, 3)))
                .add("case_2", "", Map.of(), moduleCase(new GatedMlp(3, 5, activation, false), Shape.of(2, 3, 3)))
                .write();
        Report report = Report.of(folder, 1, 3);
        assertThat(report.lines()).hasSize(5).last().isEqualTo("4 passed, 0 failed, 0 skipped");
    }

    @Test
    void shouldRunOtherSizesUnderOtherNames() throws IOException {
        new VectorFolder(folder)
                .add("wide", "", Map.of(), moduleCase(new Linear(2, 11, true), Shape.of(3, 2)))
                .add("flat", "", Map.of(), moduleCase(new Linear(9, 1, false), Shape.of(9)))
                .write();
        assertThat(Report.of(folder, 1, 2, 4).last()).isEqualTo("6 passed, 0 failed, 0 skipped");
    }

    @Test
    void shouldNameTheTensorThatDiffers() throws IOException {
        Map<String, Tensor> tensors = moduleCase(new Linear(4, 6, true), Shape.of(3, 4));
        tensors.put("grad.bias", tensors.get("grad.bias").mul(1.001));
        new VectorFolder(folder).add("off", "", Map.of(), tensors).write();
        Report report = Report.of(folder, 2);
        assertThat(report.lines().get(0))
                .startsWith("FAIL off T=2 max error 9.99e-04: column-parallel: grad.bias differs by 9.99e-04");
        assertThat(report.last()).isEqualTo("0 passed, 1 failed, 0 skipped");
    }

    @Test
    void shouldFailTheBrokenFileAloneWithTheReason() throws IOException {
        Map<String, Tensor> tensors = moduleCase(new Linear(4, 6, true), Shape.of(3, 4));
        VectorFolder all = new VectorFolder(folder);
        for (String name : new String[] {"cut", "gone", "whole"}) {
            all.add(name, "", Map.of(), tensors);
        }
        all.write();
        byte[] bytes = Files.readAllBytes(folder.resolve("cut.safetensors"));
        Files.write(folder.resolve("cut.safetensors"), java.util.Arrays.copyOf(bytes, bytes.length - 8));
        Files.delete(folder.resolve("gone.safetensors"));
        Report report = Report.of(folder, 2);
        assertThat(report.lines()).hasSize(4);
        assertThat(report.lines().get(0)).startsWith("FAIL cut T=2: SafetensorsException: ");
        assertThat(report.lines().get(1)).startsWith("FAIL gone T=2: ").contains("does not exist");
        assertThat(report.lines().get(2)).startsWith("PASS whole T=2 ");
        assertThat(report.last()).isEqualTo("1 passed, 2 failed, 0 skipped");
    }

    @Test
    void shouldFailWhereFileAndIndexDiffer() throws IOException {
        new VectorFolder(folder)
                .add("linear", "", Map.of(), moduleCase(new Linear(4, 6, true), Shape.of(3, 4)))
                .write();
        Path index = folder.resolve(ReferenceIndex.FILE);
        Files.writeString(index, Files.readString(index).replace("[3,6]", "[6,3]"));
        assertThat(Report.of(folder, 1).lines().get(0))
                .contains("tensor 'y' is float32[3, 6] in the file, but the index says float32[6, 3]");
    }

    @Test
    void shouldFailIndexEntriesWithoutContent() throws IOException {
        Files.writeString(
                folder.resolve(ReferenceIndex.FILE), "[{\"about\": 1}, {\"name\": \"odd\", \"tensors\": {\"x\": 3}}]");
        Report report = Report.of(folder, 1);
        assertThat(report.lines())
                .containsExactly(
                        "FAIL entry_0 T=1: the index gives it no name",
                        "FAIL odd T=1: the index says of tensor 'x' 3, not its type and its sizes",
                        "0 passed, 2 failed, 0 skipped");
    }

    @Test
    void shouldFailAFolderWithoutAnIndex() {
        Report report = Report.of(folder, 1);
        assertThat(report.lines().get(0))
                .startsWith("FAIL index.json T=1: there is no ")
                .contains("HINT: name a folder of reference vectors");
        assertThat(report.failed()).isOne();
    }

    @Test
    void shouldFailAnIndexThatIsNotJson() throws IOException {
        Files.writeString(folder.resolve(ReferenceIndex.FILE), "[{");
        assertThat(Report.of(folder, 1).lines().get(0)).contains("is not JSON: ");
    }

    @Test
    void shouldSkipKindsNotBuiltYetAndUnknownKinds() throws IOException {
        Tensor number = Tensors.of(CPU, new float[] {1}, 1);
        new VectorFolder(folder)
                .add("attn_x", "", Map.of("heads", 2), Map.of("x", number))
                .add("mystery", "", Map.of(), Map.of("z", number))
                .write();
        assertThat(Report.of(folder, 2).lines())
                .containsExactly(
                        "SKIP attn_x T=2: attention comes with later work",
                        "SKIP mystery T=2: no runner knows a case with the tensors [z]",
                        "0 passed, 0 failed, 2 skipped");
    }
}
