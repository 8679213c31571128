package org.tp4j.tensor.meta;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.tp4j.autograd.DTensors;
import org.tp4j.autograd.Tensors;
import org.tp4j.comm.engine.FakeGroup;
import org.tp4j.layout.DTensor;
import org.tp4j.layout.Placement;
import org.tp4j.mesh.DeviceMesh;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.Scope;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.Tensor;
import org.tp4j.tensor.TpException;

class MetaBackendTest {
    private static final MetaBackend META = MetaBackend.get();
    private static final Shape TERABYTES = Shape.of(1L << 20, 1L << 20);

    @Test
    void shouldKeepShapesWithoutMemory() {
        Tensor x = Tensors.zeros(META, DType.FLOAT32, TERABYTES).requiresGrad(true);
        Tensor loss = x.matmul(x).gelu().softmax(-1).sum();
        assertThat(loss.shape()).isEqualTo(Shape.scalar());
        loss.backward();
        assertThat(x.grad().shape()).isEqualTo(TERABYTES);
        assertThat(META.device()).hasToString("meta");
    }

    @Test
    void shouldCountTheBytesThatArraysWouldTake() {
        try (Scope scope = Scope.open("planned")) {
            Tensors.zeros(META, DType.BFLOAT16, TERABYTES).relu();
            assertThat(scope.bytes()).isEqualTo(2 * 2L << 40);
        }
    }

    @Test
    void shouldRefuseToShowValues() {
        Tensor x = Tensors.of(META, new float[] {1, 2}, 2);
        assertThatThrownBy(x::toFloats)
                .isInstanceOf(TpException.class)
                .hasMessage(
                        "the values of float32[2]@meta were asked for, but arrays on device 'meta' have shapes only;"
                                + " HINT: run on a device that computes, such as cpu");
        assertThatThrownBy(x.sum()::item).isInstanceOf(TpException.class);
    }

    @Test
    void shouldNotMixWithOtherShapesOrTypes() {
        Tensor x = Tensors.zeros(META, DType.FLOAT32, Shape.of(2, 3));
        assertThatThrownBy(() -> x.matmul(x)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> x.add(x.cast(DType.FLOAT64))).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void shouldPretendToBeOneRankOfMany() {
        DeviceMesh mesh =
                DeviceMesh.of(new FakeGroup(700, 1024), META, List.of(Map.entry("dp", 128), Map.entry("tp", 8)));
        assertThat(mesh.axis("dp").coordinate()).isEqualTo(87);
        assertThat(mesh.axis("tp").coordinate()).isEqualTo(4);
        assertThat(mesh.flatten("all", "tp", "dp").axis(0).coordinate()).isEqualTo(4 * 128 + 87);
        Tensor x = Tensors.zeros(META, DType.FLOAT32, Shape.of(3, 5));
        DTensor parts = DTensors.fromLocal(x, mesh, Placement.shard(0), Placement.shard(1));
        assertThat(parts.shape()).isEqualTo(Shape.of(384, 40));
        assertThat(parts.fullTensor().shape()).isEqualTo(Shape.of(384, 40));
        DTensor shard = DTensors.distribute(x, mesh, Placement.invariant(), Placement.shard(1));
        assertThat(shard.local().shape()).isEqualTo(Shape.of(3, 1));
    }
}
