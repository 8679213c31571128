/** JNccl, the bindings to NCCL, and the process group over them. */
module org.tp4j.nccl {
    requires transitive org.tp4j.core;
    requires transitive org.tp4j.cuda;
    requires org.slf4j;
    requires static org.jspecify;

    exports org.tp4j.nccl;

    provides org.tp4j.comm.engine.GroupEngine with
            org.tp4j.nccl.internal.NcclEngine;
}
