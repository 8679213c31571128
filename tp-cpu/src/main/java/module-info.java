/** The CPU backend, and ranks as threads or MPI processes. */
module org.tp4j.cpu {
    requires transitive org.tp4j.core;
    requires dev.ludovic.netlib.blas;
    requires java.logging; // netlib logs by it
    requires org.bytedeco.javacpp;
    requires org.bytedeco.openblas;
    requires org.slf4j;
    requires static org.jspecify;
    // Optional at run time: --add-modules jdk.incubator.vector
    requires static jdk.incubator.vector;

    exports org.tp4j.cpu;
    exports org.tp4j.threads;

    provides org.tp4j.comm.launch.Launcher with
            org.tp4j.threads.ThreadLauncher,
            org.tp4j.mpi.MpiLauncher;
    provides org.tp4j.tensor.BackendProvider with
            org.tp4j.cpu.CpuBackendProvider;
}
