package org.tp4j.nccl.internal;

import java.util.List;
import java.util.stream.IntStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tp4j.comm.CommunicationException;
import org.tp4j.comm.engine.GroupMember;
import org.tp4j.comm.engine.GroupSession;
import org.tp4j.cuda.CudaBackend;
import org.tp4j.cuda.stream.CudaEvent;
import org.tp4j.nccl.Nccl;
import org.tp4j.nccl.NcclUniqueId;

/** A rank's connection to the other ranks over NCCL: its communicators, its streams, and the watchdog over them. */
final class NcclSession implements GroupSession {
    private static final Logger LOG = LoggerFactory.getLogger(NcclSession.class);

    private final NcclContext context;
    private final CudaBackend backend;
    private final CallStreams streams;
    private final Communicators communicators;
    private final NcclProcessGroup world;
    private final NcclWatchdog watchdog;

    NcclSession(GroupMember member) {
        this.context = new NcclContext(member);
        this.backend = context.backend();
        backend.recover();
        this.streams = new CallStreams(context);
        this.communicators = new Communicators(context);
        SessionParts parts = new SessionParts(context, streams, communicators);
        List<Integer> ranks = IntStream.range(0, member.size()).boxed().toList();
        NcclUniqueId id = context.shareId("world", member.rank() == 0);
        Communicator joined = communicators.join("the world group", ranks, member.rank(), id);
        this.world = new NcclProcessGroup(parts, joined, "world", "world", member.rank(), ranks);
        this.watchdog = new NcclWatchdog(parts);
        watchdog.start();
        backend.watchCapturedSteps(this::stepLaunched);
        LOG.debug("rank {} of {} over {}", member.rank(), member.size(), Nccl.description());
    }

    @Override
    public NcclProcessGroup world() {
        return world;
    }

    private void stepLaunched(CudaEvent end) {
        if (context.hasCapturedCalls() && !context.isOver()) {
            streams.capturedSteps().track(world.stepRecord(), world.worldRanks(), end);
        } else {
            end.close();
        }
    }

    @Override
    public void abort(CommunicationException reason) {
        context.fail(reason);
        watchdog.end();
    }

    @Override
    public void close() {
        if (context.hasEnded()) {
            return;
        }
        if (context.hasFailed()) {
            watchdog.end();
            context.end();
            backend.watchCapturedSteps(null);
            streams.freeAll();
            backend.recover(); // the communicators are gone, and nothing of this session is under way any more
            return;
        }
        backend.computeStream().synchronize(); // its work may contain captured collectives
        streams.drainAll();
        watchdog.end();
        backend.watchCapturedSteps(null);
        communicators.leaveAll();
        streams.freeAll();
        context.end();
    }
}
