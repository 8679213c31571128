package org.tp4j.tests.parallel;

import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.tp4j.comm.World;
import org.tp4j.comm.record.CommunicationLog;
import org.tp4j.comm.record.RecordingGroup;
import org.tp4j.mesh.DeviceMesh;
import org.tp4j.nn.Gradients;
import org.tp4j.nn.Layer;
import org.tp4j.parallel.ParallelStyle;
import org.tp4j.parallel.Parallelize;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.Tensor;

/**
 * What a step of real ranks communicates, once a first pass has compared the ranks' inputs.
 *
 * @param forward calls of the forward pass
 * @param backward calls of the backward pass, from the sum of the output
 * @param sums calls of the deferred sums of parameters' gradients
 */
public record Recorded(
        List<CommunicationLog.Entry> forward,
        List<CommunicationLog.Entry> backward,
        List<CommunicationLog.Entry> sums) {
    public static Recorded run(
            World world,
            Layer made,
            Map<String, ? extends ParallelStyle> plan,
            Function<DeviceMesh, Tensor> input,
            List<Map.Entry<String, Integer>> axes) {
        CommunicationLog log = new CommunicationLog();
        DeviceMesh mesh = DeviceMesh.of(new RecordingGroup(world.group(), log), world.backend(), axes);
        Layer model = Parallelize.apply(made, mesh, "tp", plan);
        model.materialize(world.backend(), DType.FLOAT32, 1);
        model.apply(input.apply(mesh));
        Tensor x = input.apply(mesh);
        log.clear();
        Tensor y = model.apply(x);
        List<CommunicationLog.Entry> forward = log.entries();
        log.clear();
        y.sum().backward();
        List<CommunicationLog.Entry> backward = log.entries();
        log.clear();
        Gradients.finish(model.parameters().values());
        return new Recorded(forward, backward, log.entries());
    }
}
