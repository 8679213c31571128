package org.tp4j.threads;

import org.tp4j.comm.ProcessGroup;
import org.tp4j.comm.World;
import org.tp4j.tensor.Backend;

/** The world of a rank that is a thread. */
final class ThreadWorld implements World {
    private final ProcessGroup group;
    private final Backend backend;

    ThreadWorld(ProcessGroup group, Backend backend) {
        this.group = group;
        this.backend = backend;
    }

    @Override
    public int localRank() {
        return group.rank();
    }

    @Override
    public int localSize() {
        return group.size();
    }

    @Override
    public ProcessGroup group() {
        return group;
    }

    @Override
    public Backend backend() {
        return backend;
    }

    @Override
    public String launcher() {
        return "threads";
    }

    @Override
    public void close() {
        group.close();
    }
}
