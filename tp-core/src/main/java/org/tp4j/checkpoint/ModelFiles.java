package org.tp4j.checkpoint;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.tp4j.autograd.internal.Agreed;
import org.tp4j.comm.CommunicationException;
import org.tp4j.comm.GroupNumbers;
import org.tp4j.layout.DTensor;
import org.tp4j.layout.Layout;
import org.tp4j.mesh.Axis;
import org.tp4j.mesh.DeviceMesh;
import org.tp4j.nn.Module;
import org.tp4j.nn.Parameter;
import org.tp4j.tensor.Backend;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Region;
import org.tp4j.tensor.Scope;
import org.tp4j.tensor.Tensor;

/**
 * A model's parameters in one safetensors file, whole and under their global names, whatever the layout: a file saved on any
 * number of ranks loads on any other.
 *
 * <pre>{@code
 * Parallelize.apply(model, mesh, plan);
 * model.materialize(world.backend(), DType.FLOAT32, seed);
 * ModelFiles.load(model, path);  // each rank reads its slices alone
 * ...
 * ModelFiles.save(model, path);  // every rank calls it, one writes
 * }</pre>
 *
 * <p>A tied parameter is written once, under the name by which {@link Module#parameters()} lists it, and is found under any of
 * its names. Floating types are converted when loading; saving keeps the model's.
 */
@SuppressWarnings("try") // scopes that only own
public final class ModelFiles {
    private ModelFiles() {}

    /**
     * Overwrites all parameters of a model with those of a file, each rank reading only its own slices. The header is compared
     * with the whole model first. Not collective: every rank opens the file.
     *
     * @throws SafetensorsException listing every missing or unknown name and every shape or type that differs, in which case
     *     nothing is changed; or if the file is damaged or cannot be read
     * @throws IllegalStateException if the model has not been materialized
     */
    public static void load(Module model, Path path) {
        try (SafetensorsFile file = SafetensorsFile.open(path)) {
            load(model, file);
        }
    }

    /** As {@link #load(Module, Path)} from a file that is open and stays so. */
    public static void load(Module model, SafetensorsFile file) {
        Map<String, Parameter> parameters = model.parameters();
        Map<String, String> stored = FileContents.match(parameters, model.aliases(), file);
        parameters.forEach((name, parameter) -> {
            NdArray to = parameter.tensor().local();
            Layout layout = parameter.layout();
            Region region = layout == null ? Region.whole(parameter.shape()) : layout.region(parameter.shape());
            String source = stored.get(name);
            if (source != null) {
                read(file, source, region, to);
            }
        });
    }

    private static void read(SafetensorsFile file, String name, Region region, NdArray to) {
        DType stored = file.entry(name).dtype();
        if (stored == to.dtype()) {
            file.readRegion(name, region, to);
            return;
        }
        try (Scope scope = Scope.open("loading " + name)) {
            NdArray part = NdArray.allocate(to.backend(), stored, region.local());
            file.readRegion(name, region, part);
            to.backend().elementwise().cast(part, to);
            to.storage().markChanged();
        }
    }

    /**
     * Writes all parameters of a model. Collective: tensors are gathered one at a time, and the first rank of the model's mesh
     * writes them; the others return once it has.
     *
     * @throws SafetensorsException on the rank that writes, if the file cannot be written; what was there is unchanged
     * @throws CommunicationException on the other ranks then
     * @throws org.tp4j.comm.DisagreementException if ranks were found to disagree on the steps before; nothing is written
     * @throws IllegalStateException if the model has not been materialized
     */
    public static void save(Module model, Path path) {
        Map<String, Tensor> state = model.state();
        DeviceMesh mesh = mesh(state);
        if (mesh != null) {
            Agreed.settle(List.of(mesh)); // what ranks disagree on is not saved
        }
        boolean writes = mesh == null || mesh.axes().stream().allMatch(axis -> axis.coordinate() == 0);
        Set<String> gathered = new LinkedHashSet<>();
        SafetensorsWriter writer = new SafetensorsWriter(path).metadata("format", "pt");
        state.forEach((name, tensor) -> writer.add(name, SafetensorsType.of(tensor.dtype()), tensor.shape(), out -> {
            gathered.add(name);
            try (Scope scope = Scope.open("saving " + name)) {
                SafetensorsWriter.copyOut(whole(tensor), out);
            }
        }));
        RuntimeException failure = null;
        if (writes) {
            try {
                writer.write();
            } catch (RuntimeException e) {
                failure = e;
            }
        }
        List<String> rest = new ArrayList<>(writer.names());
        rest.removeAll(gathered); // the others gather all, however far the writer has come
        for (String name : rest) {
            try (Scope scope = Scope.open("saving " + name)) {
                whole(state.getOrDefault(name, state.values().iterator().next()));
            }
        }
        boolean failed = mesh != null && anyFailed(mesh, failure != null);
        if (failure != null) {
            throw failure;
        }
        if (failed) {
            throw new CommunicationException("model file " + path + " could not be written by the first rank of mesh "
                    + mesh + "; HINT: its own error says why");
        }
    }

    private static NdArray whole(Tensor tensor) {
        return (tensor instanceof DTensor onMesh ? onMesh.fullTensor() : tensor).local();
    }

    private static @Nullable DeviceMesh mesh(Map<String, Tensor> state) {
        for (Tensor tensor : state.values()) {
            if (tensor instanceof DTensor onMesh) {
                return onMesh.layout().mesh();
            }
        }
        return null;
    }

    private static boolean anyFailed(DeviceMesh mesh, boolean here) {
        boolean failed = here;
        Backend backend = mesh.backend();
        for (Axis axis : mesh.axes()) {
            boolean[] all = GroupNumbers.allGather(axis.group(), backend, new boolean[] {failed});
            for (boolean one : all) {
                failed |= one;
            }
        }
        return failed;
    }

    /** Which tensor of a file each parameter is in. */
    private static final class FileContents {
        private static final int MOST_SHOWN = 20;

        private FileContents() {}

        /** Names of tensors by names of parameters; every parameter and every tensor is in it. */
        static Map<String, String> match(
                Map<String, Parameter> parameters, Map<String, String> aliases, SafetensorsFile file) {
            List<String> problems = new ArrayList<>();
            Map<String, String> stored = new LinkedHashMap<>();
            for (String name : file.names()) {
                String parameter = aliases.getOrDefault(name, name);
                if (!parameters.containsKey(parameter)) {
                    problems.add("unknown: '" + name + "' " + file.entry(name).shape());
                } else {
                    String other = stored.putIfAbsent(parameter, name);
                    if (other != null) {
                        problems.add(
                                "held twice: '" + other + "' and '" + name + "' are one tied parameter of the model");
                    }
                }
            }
            parameters.forEach((name, parameter) -> {
                String source = stored.get(name);
                if (source == null) {
                    problems.add("missing: '" + name + "' " + parameter.shape());
                } else {
                    compare(parameter, file.entry(source), problems);
                }
            });
            if (!problems.isEmpty()) {
                int more = problems.size() - MOST_SHOWN;
                throw new SafetensorsException(
                        file.path(),
                        null,
                        "does not fit the model, nothing was changed:\n  - "
                                + String.join("\n  - ", problems.subList(0, Math.min(MOST_SHOWN, problems.size())))
                                + (more > 0 ? "\n  - and " + more + " more" : "")
                                + "\nHINT: the model's names are those of parameters() and aliases()");
            }
            return stored;
        }

        private static void compare(Parameter parameter, SafetensorsEntry entry, List<String> problems) {
            if (!entry.shape().equals(parameter.shape())) {
                problems.add("shape of '" + entry.name() + "': " + parameter.shape() + " expected, " + entry.shape()
                        + " in the file");
            }
            DType type = parameter.tensor().dtype();
            if (entry.type().dtype().map(DType::isFloating).orElse(false) != type.isFloating()) {
                problems.add("type of '" + entry.name() + "': " + type + " expected, " + entry.type() + " in the file");
            }
        }
    }
}
