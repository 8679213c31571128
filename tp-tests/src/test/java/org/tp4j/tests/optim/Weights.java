package org.tp4j.tests.optim;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import org.tp4j.layout.DTensor;
import org.tp4j.layout.Layout;
import org.tp4j.layout.Placement;
import org.tp4j.mesh.DeviceMesh;
import org.tp4j.nn.Initializer;
import org.tp4j.nn.Layer;
import org.tp4j.nn.Parameter;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.Tensor;

/** Parameters without a forward pass, whose values and gradients a test sets. */
final class Weights extends Layer {
    private final Map<String, Parameter> all = new LinkedHashMap<>();

    Parameter declare(String name, Shape shape) {
        Parameter made = parameter(new Parameter(name, shape, Initializer.uniform(-1, 1)));
        all.put(name, made);
        return made;
    }

    /** Declares a parameter with this placement on every axis. */
    Parameter declare(String name, Shape shape, DeviceMesh mesh, Placement... placements) {
        Parameter made = declare(name, shape);
        made.place(Layout.of(mesh, shape.dims(), placements));
        return made;
    }

    /** Adds to a parameter's gradient. */
    void gradient(String name, Tensor whole) {
        Tensor tensor = parameter(name).tensor();
        tensor.backward(whole.cast(tensor.dtype()));
    }

    Parameter parameter(String name) {
        return Objects.requireNonNull(all.get(name), name);
    }

    /** A parameter's whole value. */
    double[] value(String name) {
        return whole(parameter(name).tensor());
    }

    /** A parameter's whole gradient. */
    double[] gradient(String name) {
        return whole(Objects.requireNonNull(parameter(name).tensor().grad(), name));
    }

    /** The whole value of a tensor, gathered if it is on a mesh. */
    static double[] whole(Tensor tensor) {
        return (tensor.detach() instanceof DTensor d ? d.fullTensor() : tensor).toDoubles();
    }

    @Override
    protected Tensor forward(Tensor x) {
        throw new UnsupportedOperationException();
    }
}
