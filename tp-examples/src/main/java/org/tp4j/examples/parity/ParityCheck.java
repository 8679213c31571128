package org.tp4j.examples.parity;

import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.tp4j.autograd.Tensors;
import org.tp4j.comm.ProcessGroup;
import org.tp4j.comm.World;
import org.tp4j.examples.mlp.Digits;
import org.tp4j.examples.mlp.MlpSettings;
import org.tp4j.examples.result.TrainingResult;
import org.tp4j.mesh.DeviceMesh;
import org.tp4j.tensor.Backend;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Shape;

/**
 * Compares a training on T ranks with the same training on one rank, which rank 0 runs afterwards.
 *
 * <p>Sums over several ranks round differently, by a unit in the last place, and training is chaotic: with the default
 * settings such differences hardly grow, in long or unstable trainings they grow without limit. If a difference exceeds its
 * bound, both therefore train one epoch in float64, whose rounding errors are 10⁹ times smaller: a difference that remains
 * is a bug.
 *
 * @param singleRank result of the training on one rank
 * @param asTrained differences with the settings of the training
 * @param inFloat64 differences after one epoch in float64, or null if that was not needed
 */
public record ParityCheck(
        TrainingResult singleRank,
        TrainingDifference asTrained,
        @Nullable TrainingDifference inFloat64) {
    /** Whether T ranks compute what one rank computes. */
    public boolean passed() {
        return asTrained.passed() || inFloat64 != null && inFloat64.passed();
    }

    /**
     * Trains on rank 0 alone and compares. Collective.
     *
     * @param mesh the mesh of the training to check
     * @param trained its outcome
     * @return null on all ranks but rank 0
     */
    public static @Nullable ParityCheck run(
            World world, DeviceMesh mesh, TrainedModel trained, MlpSettings settings, Digits digits) {
        ProcessGroup solo = world.group().split("solo", world.rank(), 0);
        DeviceMesh one = DeviceMesh.of(solo, world.backend(), List.of(Map.entry("tp", 1)));
        TrainedModel alone = world.rank() == 0 ? TrainedModel.train(one, settings, digits) : null;
        TrainingDifference asTrained =
                alone == null ? null : TrainingDifference.between(settings.dtype(), trained, alone);
        TrainingDifference inFloat64 = null;
        if (broadcast(world, asTrained != null && !asTrained.passed())) {
            MlpSettings exact = settings.withDtype(DType.FLOAT64).withEpochs(1);
            TrainedModel sharded = TrainedModel.train(mesh, exact, digits);
            if (world.rank() == 0) {
                inFloat64 = TrainingDifference.between(DType.FLOAT64, sharded, TrainedModel.train(one, exact, digits));
            }
        }
        return alone == null ? null : new ParityCheck(alone.result(), Objects.requireNonNull(asTrained), inFloat64);
    }

    /** Rank 0's value, on every rank. */
    private static boolean broadcast(World world, boolean value) {
        Backend backend = world.backend();
        NdArray flag = NdArray.full(backend, DType.FLOAT32, Shape.of(1), value ? 1 : 0);
        world.group().broadcast(flag, 0).await();
        return Tensors.of(flag).item() != 0;
    }
}
