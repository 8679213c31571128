/** Tensors on device meshes, their layouts and gradients, modules, plans, optimizers, files. */
module org.tp4j.core {
    requires com.fasterxml.jackson.core;
    requires org.slf4j;
    requires static transitive org.jspecify;

    exports org.tp4j.autograd;
    exports org.tp4j.checkpoint;
    exports org.tp4j.comm;
    exports org.tp4j.comm.engine;
    exports org.tp4j.comm.launch;
    exports org.tp4j.comm.record;
    exports org.tp4j.layout;
    exports org.tp4j.mesh;
    exports org.tp4j.nn;
    exports org.tp4j.op;
    exports org.tp4j.optim;
    exports org.tp4j.parallel;
    exports org.tp4j.planner;
    exports org.tp4j.tensor;
    exports org.tp4j.tensor.meta;
    exports org.tp4j.tensor.internal to
            org.tp4j.cpu,
            org.tp4j.cuda,
            org.tp4j.cudasim,
            org.tp4j.nccl;
    exports org.tp4j.tensor.internal.math to
            org.tp4j.cpu,
            org.tp4j.cuda;
    exports org.tp4j.comm.internal.agreement to
            org.tp4j.cpu;
    exports org.tp4j.comm.internal.control to
            org.tp4j.cpu;

    uses org.tp4j.comm.engine.GroupEngine;
    uses org.tp4j.comm.launch.Launcher;
    uses org.tp4j.tensor.BackendProvider;

    provides org.tp4j.comm.launch.Launcher with
            org.tp4j.comm.launch.EnvironmentLauncher;
}
