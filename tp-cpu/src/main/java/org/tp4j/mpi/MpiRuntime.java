package org.tp4j.mpi;

import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.tp4j.comm.CommunicationException;
import org.tp4j.comm.CommunicationOptions;

/**
 * MPI in this process, which is one rank and can be initialized once. Programs may run as that rank one after the other, not at
 * the same time. The only owner of static state of this package.
 */
final class MpiRuntime {
    private static final AtomicReference<@Nullable Thread> USER = new AtomicReference<>();
    private static final AtomicReference<@Nullable MpiProcess> LATEST = new AtomicReference<>();

    private MpiRuntime() {}

    /**
     * Makes the current thread the one that runs as this process's rank.
     *
     * @throws CommunicationException if another thread does
     */
    static void enter() {
        Thread current = Thread.currentThread();
        Thread user = USER.compareAndExchange(null, current);
        if (user != null) {
            throw new CommunicationException(
                    "this process is one rank of an MPI job, and thread '" + user.getName()
                            + "' runs as that rank; thread '" + current.getName()
                            + "' cannot be another one; HINT: share the World of the first, or start more processes with mpirun");
        }
    }

    static void leave() {
        USER.set(null);
    }

    /** Initializes MPI unless it is already initialized. */
    static void initialize(CommunicationOptions options) {
        BlockingCall.run("MPI_Init", options.startTimeoutMs(), Optional::empty, MpiNative::initialize);
    }

    /** Has {@link MpiProcess#shutDown()} of the latest program called when the process exits. */
    static void watch(MpiProcess process) {
        if (LATEST.getAndSet(process) == null) {
            Runtime.getRuntime().addShutdownHook(new Thread(MpiRuntime::exit, "tp4j-mpi-end"));
        }
    }

    private static void exit() {
        MpiProcess latest = LATEST.get();
        if (latest != null) {
            latest.shutDown();
        }
    }
}
