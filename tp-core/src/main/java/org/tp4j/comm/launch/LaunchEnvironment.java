package org.tp4j.comm.launch;

import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * How this process was started, according to environment variables.
 *
 * <table>
 * <caption>The variables of each starter</caption>
 * <tr><th>starter</th><th>rank</th><th>size</th><th>rank on the machine</th></tr>
 * <tr><td>Open MPI's mpirun</td><td>OMPI_COMM_WORLD_RANK</td><td>OMPI_COMM_WORLD_SIZE</td>
 *     <td>OMPI_COMM_WORLD_LOCAL_RANK</td></tr>
 * <tr><td>MPICH's, Intel's mpirun</td><td>PMI_RANK</td><td>PMI_SIZE</td><td>MPI_LOCALRANKID</td></tr>
 * <tr><td>torchrun and similar</td><td>RANK</td><td>WORLD_SIZE</td><td>LOCAL_RANK</td></tr>
 * <tr><td>Slurm's srun</td><td>SLURM_PROCID</td><td>SLURM_STEP_NUM_TASKS</td><td>SLURM_LOCALID</td></tr>
 * </table>
 *
 * @param starter {@code openmpi}, {@code pmi}, {@code torchrun} or {@code slurm}
 * @param rank this process's rank
 * @param size number of ranks
 * @param localRank its rank among those on its machine; -1 if unknown
 * @param localSize number of ranks on its machine; -1 if unknown
 */
public record LaunchEnvironment(String starter, int rank, int size, int localRank, int localSize) {
    private static final String[][] STARTERS = {
        {
            "openmpi",
            "OMPI_COMM_WORLD_RANK",
            "OMPI_COMM_WORLD_SIZE",
            "OMPI_COMM_WORLD_LOCAL_RANK",
            "OMPI_COMM_WORLD_LOCAL_SIZE"
        },
        {"pmi", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"},
        {"torchrun", "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"},
        {"slurm", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID", "SLURM_STEP_TASKS_PER_NODE"},
    };

    /** Reads the variables; empty if they do not describe a rank. */
    public static Optional<LaunchEnvironment> read(Map<String, String> environment) {
        for (String[] names : STARTERS) {
            Integer rank = number(environment, names[1]);
            Integer size = number(environment, names[2]);
            if (rank != null && size != null && rank >= 0 && rank < size) {
                Integer localRank = number(environment, names[3]);
                Integer localSize = number(environment, names[4]);
                return Optional.of(new LaunchEnvironment(
                        names[0], rank, size, localRank == null ? -1 : localRank, localSize == null ? -1 : localSize));
            }
        }
        return Optional.empty();
    }

    /** Whether an MPI library will find the other ranks: started by mpirun, or by Slurm, which speaks PMI too. */
    public boolean isMpi() {
        return !starter.equals("torchrun");
    }

    private static @Nullable Integer number(Map<String, String> environment, String name) {
        String value = environment.get(name);
        if (value == null || !value.matches("[0-9]{1,9}")) {
            return null;
        }
        return Integer.valueOf(value);
    }
}
