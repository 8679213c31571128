package example;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.tp4j.autograd.Tensors;
import org.tp4j.cuda.CudaBackend;
import org.tp4j.cudasim.SimulatedCuda;
import org.tp4j.nn.Linear;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.Tensor;

/** A user's test of GPU code, on a machine without a GPU. */
@SimulatedCuda(required = true)
class LayerOnAGpuTest {
    @Test
    void shouldAddTheBiasOnce(CudaBackend backend) {
        Linear layer = new Linear(2, 1, true);
        layer.materialize(backend, DType.FLOAT32, 42);
        layer.loadState(Map.of(
                "weight", Tensors.of(backend, new double[] {1, 2}, 1, 2).cast(DType.FLOAT32),
                "bias", Tensors.of(backend, new double[] {10}, 1).cast(DType.FLOAT32)));
        Tensor y = layer.apply(Tensors.of(backend, new double[] {3, 4}, 1, 2).cast(DType.FLOAT32));
        assertEquals(21, y.item());
    }
}
