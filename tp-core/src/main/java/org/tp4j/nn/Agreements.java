package org.tp4j.nn;

import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import org.tp4j.autograd.internal.Agreed;
import org.tp4j.layout.Layout;
import org.tp4j.mesh.DeviceMesh;
import org.tp4j.tensor.DType;

/** What ranks agree on before a model is used. */
final class Agreements {
    private Agreements() {}

    /**
     * Structure, plan, type and seed: compared with the other ranks' as soon as they have come so far, which usually is at
     * once.
     *
     * @throws org.tp4j.comm.DisagreementException if they differ
     */
    static void materialized(Map<String, Parameter> parameters, DType dtype, long seed) {
        Set<DeviceMesh> meshes = new LinkedHashSet<>();
        parameters.forEach((name, parameter) -> {
            Layout layout = parameter.layout();
            if (layout != null) {
                Agreed agreed = Agreed.on(layout.mesh());
                if (agreed.isOn()) {
                    String plan = " laid out " + layout + ", seed " + seed;
                    agreed.happens("parameter '" + name + "' " + dtype + parameter.shape() + plan, "");
                    meshes.add(layout.mesh());
                }
            }
        });
        Agreed.settle(meshes);
    }
}
