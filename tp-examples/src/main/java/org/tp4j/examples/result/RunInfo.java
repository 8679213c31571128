package org.tp4j.examples.result;

import org.tp4j.comm.World;
import org.tp4j.examples.mlp.Digits;
import org.tp4j.examples.mlp.MlpSettings;
import org.tp4j.nn.Module;

/**
 * What was trained, on what.
 *
 * @param settings hyperparameters
 * @param ranks number of ranks
 * @param launcher how the ranks were started: threads or mpi
 * @param deviceType cpu or cuda
 * @param device description of the device
 * @param parameters number of parameters of the whole model
 * @param trainImages number of training images
 * @param testImages number of held-out images
 */
public record RunInfo(
        MlpSettings settings,
        int ranks,
        String launcher,
        String deviceType,
        String device,
        long parameters,
        int trainImages,
        int testImages) {
    /** Describes the training of a model in this world. */
    public static RunInfo of(World world, MlpSettings settings, Module model, Digits digits) {
        long parameters = model.parameters().values().stream()
                .mapToLong(p -> p.shape().elements())
                .sum();
        return new RunInfo(
                settings,
                world.size(),
                world.launcher(),
                world.backend().device().type(),
                world.backend().description(),
                parameters,
                digits.train().size(),
                digits.test().size());
    }

    /** The number of ranks and what they are, such as {@code 2, threads of this JVM}. */
    public String describeRanks() {
        return switch (launcher) {
            case "threads" -> ranks == 1 ? "1, a thread of this JVM" : ranks + ", threads of this JVM";
            case "mpi" -> ranks == 1 ? "1, a process under MPI" : ranks + ", processes under MPI";
            default -> ranks + ", " + launcher;
        };
    }
}
