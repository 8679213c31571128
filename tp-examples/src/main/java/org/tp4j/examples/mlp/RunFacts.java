package org.tp4j.examples.mlp;

import org.tp4j.comm.World;

/**
 * What a run is, for its reader.
 *
 * @param settings what is trained
 * @param ranks number of ranks
 * @param launcher how they were started: threads, mpi, alone
 * @param deviceType cpu or cuda
 * @param device what they compute on, in words
 * @param parameters of the whole model
 * @param trainImages number of images learnt from
 * @param testImages number of images held out
 */
record RunFacts(
        MlpSettings settings,
        int ranks,
        String launcher,
        String deviceType,
        String device,
        long parameters,
        int trainImages,
        int testImages) {
    static RunFacts of(World world, MlpSettings settings, MlpTraining training, Digits digits) {
        long parameters = training.model().parameters().values().stream()
                .mapToLong(p -> p.shape().elements())
                .sum();
        return new RunFacts(
                settings,
                world.size(),
                world.launcher(),
                world.backend().device().type(),
                world.backend().description(),
                parameters,
                digits.train().size(),
                digits.test().size());
    }

    String ranksInWords() {
        return switch (launcher) {
            case "threads" -> ranks == 1 ? "1, a thread of this JVM" : ranks + ", threads of this JVM";
            case "mpi" -> ranks == 1 ? "1, a process under MPI" : ranks + ", processes under MPI";
            default -> ranks + ", " + launcher;
        };
    }
}
