package org.tp4j.threads;

import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.tp4j.comm.CommunicationException;
import org.tp4j.comm.ProcessGroup;
import org.tp4j.comm.engine.GroupEngine;
import org.tp4j.comm.engine.GroupMember;
import org.tp4j.comm.engine.GroupSession;
import org.tp4j.comm.internal.agreement.Ledger;
import org.tp4j.comm.launch.RankMain;
import org.tp4j.comm.record.CheckingGroup;
import org.tp4j.tensor.Backend;
import org.tp4j.tensor.OutOfMemoryException;

/** One rank of this JVM, from joining the others to leaving them, on its own thread. */
final class ThreadRank {
    private final ThreadJob job;
    private final DeviceAssignment devices;
    private final Exchange exchange;
    private final int rank;
    private @Nullable GroupSession session;

    ThreadRank(ThreadJob job, DeviceAssignment devices, Exchange exchange, int rank) {
        this.job = job;
        this.devices = devices;
        this.exchange = exchange;
        this.rank = rank;
    }

    /** Runs the rank's program; if it throws, the job tells the other ranks. */
    void run(RankMain main) {
        ProcessGroup group = null;
        try {
            Backend backend = devices.backend(rank);
            job.connectLedger(rank);
            group = join(backend);
            main.run(new ThreadWorld(group, backend));
            job.recorder(rank).ledger().leave(Ledger.SETTLE_MS);
            if (session != null) {
                session.close();
            }
            job.finished(rank);
        } catch (Throwable thrown) {
            Throwable t = thrown instanceof OutOfMemoryError error ? OutOfMemoryException.ofHost(error) : thrown;
            job.failed(rank, t);
            GroupSession failed = session;
            if (failed != null) {
                failed.abort(new CommunicationException("rank " + rank + " has failed: " + t, t));
                failed.close();
            }
        } finally {
            // Only after the job knows how the rank ended, so that peers are told the reason.
            if (group != null) {
                group.close();
            }
        }
    }

    private ProcessGroup join(Backend backend) {
        Optional<GroupEngine> engine = devices.engine();
        ProcessGroup group;
        if (engine.isPresent()) {
            GroupSession joined = engine.get()
                    .join(new GroupMember(
                            rank,
                            exchange.worldRanks().size(),
                            backend,
                            job.store(),
                            job.stragglers(rank),
                            job.recorder(rank),
                            job.options()));
            session = joined;
            group = joined.world();
        } else {
            group = new ThreadGroup(exchange, rank);
        }
        return job.options().checking() ? new CheckingGroup(group, backend) : group;
    }
}
