package org.tp4j.nccl.internal;

import java.util.Optional;
import org.tp4j.comm.engine.GroupEngine;
import org.tp4j.comm.engine.GroupMember;
import org.tp4j.comm.engine.GroupSession;
import org.tp4j.nccl.Nccl;

/** The engine {@code nccl}: collectives between GPUs, over NVLink, PCIe or the network. */
public final class NcclEngine implements GroupEngine {
    /** For {@link java.util.ServiceLoader}. */
    public NcclEngine() {}

    @Override
    public String name() {
        return "nccl";
    }

    @Override
    public String deviceType() {
        return "cuda";
    }

    @Override
    public Optional<String> unavailable() {
        return Nccl.unavailable();
    }

    @Override
    public GroupSession join(GroupMember member) {
        return new NcclSession(member);
    }
}
