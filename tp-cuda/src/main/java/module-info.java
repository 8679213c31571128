/** The CUDA backend. */
module org.tp4j.cuda {
    requires transitive org.tp4j.core;
    requires transitive jcuda;
    requires jcublas;
    requires org.slf4j;
    requires static org.jspecify;

    exports org.tp4j.cuda;
    exports org.tp4j.cuda.stream;
    exports org.tp4j.cuda.internal.libraries to
            org.tp4j.nccl;

    provides org.tp4j.tensor.BackendProvider with
            org.tp4j.cuda.CudaBackendProvider;
}
