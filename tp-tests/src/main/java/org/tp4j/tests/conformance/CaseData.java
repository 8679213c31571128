package org.tp4j.tests.conformance;

import java.util.LinkedHashMap;
import java.util.Map;
import org.tp4j.autograd.Tensors;
import org.tp4j.checkpoint.SafetensorsEntry;
import org.tp4j.checkpoint.SafetensorsFile;
import org.tp4j.mesh.DeviceMesh;
import org.tp4j.nn.Gradients;
import org.tp4j.nn.Module;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Tensor;
import org.tp4j.tests.run.Differences;

/** A case being run by one rank: its tensors, the mesh, and how far off the results are. */
public final class CaseData implements AutoCloseable {
    private final ReferenceCase about;
    private final DeviceMesh mesh;
    private final SafetensorsFile file;
    private final Differences differences = new Differences();
    private String variant = "";

    /**
     * Opens the case's file.
     *
     * @throws org.tp4j.checkpoint.SafetensorsException if it is missing or damaged
     * @throws IllegalStateException if it is not what the index says
     */
    CaseData(ReferenceCase about, DeviceMesh mesh) {
        this.about = about;
        this.mesh = mesh;
        this.file = SafetensorsFile.open(about.file());
        try {
            about.tensors().forEach(this::check);
        } catch (RuntimeException e) {
            file.close();
            throw e;
        }
    }

    private void check(String name, ReferenceCase.Facts facts) {
        SafetensorsEntry entry = file.entry(name);
        String dtype = entry.dtype().toString();
        if (!entry.shape().equals(facts.shape()) || !dtype.equals(facts.dtype())) {
            throw new IllegalStateException("tensor '" + name + "' is " + dtype + entry.shape()
                    + " in the file, but the index says " + facts.dtype() + facts.shape());
        }
    }

    /** The case. */
    public ReferenceCase about() {
        return about;
    }

    /** The mesh of all ranks, with one axis. */
    public DeviceMesh mesh() {
        return mesh;
    }

    /** Begins another way of computing the case: its name goes before those of tensors in messages. */
    public void variant(String name) {
        variant = name;
    }

    /** A tensor of the file, whole, on no mesh. */
    public Tensor tensor(String name) {
        about.shape(name);
        SafetensorsEntry entry = file.entry(name);
        NdArray array = NdArray.allocate(mesh.backend(), entry.dtype(), entry.shape());
        file.readInto(name, array);
        return Tensors.of(array);
    }

    /** Gives a model, once it has been placed, the values {@code param.NAME} of the file. */
    public <M extends Module> M withParameters(M model) {
        String first = "param." + model.parameters().keySet().iterator().next();
        model.materialize(mesh.backend(), tensor(first).dtype(), 0);
        Map<String, Tensor> values = new LinkedHashMap<>();
        for (String name : about.tensors().keySet()) {
            if (name.startsWith("param.")) {
                values.put(name.substring("param.".length()), tensor(name));
            }
        }
        model.loadState(values);
        return model;
    }

    /** Compares a result with a tensor of the file. Collective. */
    public void compare(String name, Tensor actual) {
        differences.compare(variant.isEmpty() ? name : variant + ": " + name, actual, tensor(name));
    }

    /** Compares a number with a tensor of the file. */
    public void compare(String name, double actual) {
        differences.compare(
                variant.isEmpty() ? name : variant + ": " + name,
                actual,
                tensor(name).item());
    }

    /** Compares the gradient of a leaf with a tensor of the file. Collective. */
    public void compareGradient(String name, Tensor leaf) {
        Tensor gradient = leaf.grad();
        if (gradient == null) {
            throw new IllegalStateException((variant.isEmpty() ? "" : variant + ": ") + "no " + name + " was computed");
        }
        compare(name, gradient);
    }

    /** Backward of sum(y · grad_y), and y and the gradients of x and of all parameters compared. Collective. */
    public void compareAll(Module model, Tensor x, Tensor y) {
        compareResult(x, y);
        Map<String, Tensor> gradients = Gradients.of(model);
        for (String name : model.parameters().keySet()) {
            Tensor gradient = gradients.get(name);
            if (gradient == null) {
                throw new IllegalStateException(variant + ": no gradient of '" + name + "' was computed");
            }
            compare("grad." + name, gradient);
        }
    }

    /** Backward of sum(y · grad_y), and y and the gradient of x compared. Collective. */
    public void compareResult(Tensor x, Tensor y) {
        compare("y", y);
        y.mul(tensor("grad_y")).sum().backward();
        if (about.has("grad_x")) {
            compareGradient("grad_x", x);
        }
    }

    /** How far off the results are. */
    public Differences differences() {
        return differences;
    }

    @Override
    public void close() {
        file.close();
    }
}
