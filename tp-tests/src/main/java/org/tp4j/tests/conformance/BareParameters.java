package org.tp4j.tests.conformance;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.tp4j.layout.Placement;
import org.tp4j.nn.Initializer;
import org.tp4j.nn.Layer;
import org.tp4j.nn.Module;
import org.tp4j.nn.Parameter;
import org.tp4j.parallel.MeshAxis;
import org.tp4j.parallel.ParallelStyle;
import org.tp4j.parallel.Parallelize;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.Tensor;

/** Parameters without a model around them, for cases of optimizers and clipping: tensors {@code NAME.SUFFIX} of a file. */
final class BareParameters extends Layer {
    private BareParameters(Map<String, Shape> shapes) {
        shapes.forEach((name, shape) -> parameter(new Parameter(name, shape, Initializer.zeros())));
    }

    /** How parameters may be cut. */
    enum Cut {
        WHOLE("whole") {
            @Override
            Placement of(Shape shape) {
                return Placement.invariant();
            }
        },
        FIRST("first dimension sharded") {
            @Override
            Placement of(Shape shape) {
                return shape.dims() == 0 ? Placement.invariant() : Placement.shard(0);
            }
        },
        MATRICES("last dimension of matrices sharded") {
            @Override
            Placement of(Shape shape) {
                return shape.dims() < 2 ? Placement.invariant() : Placement.shard(-1);
            }
        };

        private final String title;

        Cut(String title) {
            this.title = title;
        }

        abstract Placement of(Shape shape);

        static List<String> titles() {
            List<String> titles = new ArrayList<>();
            for (Cut cut : values()) {
                titles.add(cut.title);
            }
            return titles;
        }
    }

    private record Placed(Cut cut) implements ParallelStyle {
        @Override
        public List<String> validate(String path, Module module, int ranks) {
            return List.of();
        }

        @Override
        public Map<String, Placement> placements(Module module) {
            Map<String, Placement> placements = new LinkedHashMap<>();
            module.ownParameters().forEach((name, parameter) -> placements.put(name, cut.of(parameter.shape())));
            return placements;
        }

        @Override
        public void install(Module module, MeshAxis axis) {}
    }

    /** The parameters that have a tensor of that suffix, which gives their shapes, placed; the case's variant is named so. */
    static BareParameters of(CaseData data, String suffix, Cut cut) {
        data.variant(cut.title);
        Map<String, Shape> shapes = new LinkedHashMap<>();
        data.about().tensors().forEach((name, facts) -> {
            if (name.endsWith(suffix)) {
                shapes.put(name.substring(0, name.length() - suffix.length()), facts.shape());
            }
        });
        BareParameters model = Parallelize.apply(new BareParameters(shapes), data.mesh(), Map.of("", new Placed(cut)));
        String any = shapes.keySet().iterator().next() + suffix;
        model.materialize(data.mesh().backend(), data.tensor(any).dtype(), 0);
        return model;
    }

    /** Gives every parameter the gradient {@code NAME.SUFFIX}: that of sum(parameter · gradient). */
    void takeGradients(CaseData data, String suffix) {
        clearGradients();
        ownParameters()
                .forEach((name, parameter) ->
                        parameter.tensor().mul(data.tensor(name + suffix)).sum().backward());
    }

    @Override
    protected Tensor forward(Tensor x) {
        return x;
    }
}
