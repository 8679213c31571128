package org.tp4j.nccl.internal;

import org.jspecify.annotations.Nullable;
import org.tp4j.comm.CommunicationException;
import org.tp4j.nccl.JNccl;
import org.tp4j.nccl.NcclResult;

/**
 * Watches a session on a thread of its own: releases complete calls, and fails the session if a call takes too long, NCCL
 * reports an asynchronous error or a rank has failed.
 */
final class NcclWatchdog {
    private static final long LONGEST_PERIOD_MS = 20; // how long complete calls keep their events

    private static final long COMPARISON_MS = 1_000; // a call that takes so long is compared with the peers'

    private final NcclContext context;
    private final CallStreams streams;
    private final Communicators communicators;
    private final Thread thread;
    private volatile boolean over;
    private @Nullable NcclWork compared; // of the watchdog's thread

    NcclWatchdog(SessionParts session) {
        this.context = session.context();
        this.streams = session.streams();
        this.communicators = session.communicators();
        this.thread = new Thread(this::run, "tp4j-nccl-watchdog");
        thread.setDaemon(true);
    }

    void start() {
        thread.start();
    }

    void end() {
        over = true;
        if (Thread.currentThread() == thread) {
            return;
        }
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void run() {
        long periodMs = Math.max(1, Math.min(LONGEST_PERIOD_MS, context.timeoutMs() / 8));
        while (!over) {
            try {
                Thread.sleep(periodMs);
                check();
            } catch (InterruptedException e) {
                return;
            } catch (CommunicationException e) {
                context.fail(e);
                return;
            } catch (RuntimeException e) {
                // The driver's errors are sticky: the device cannot be used any more.
                context.fail(
                        new CommunicationException("rank " + context.member().rank() + ": " + e.getMessage(), e));
                return;
            }
        }
    }

    private void check() {
        for (CallStream stream : streams.all()) {
            NcclWork work = stream.oldest();
            if (work == null) {
                continue;
            }
            if (work.isLate(context.timeoutMs())) {
                throw context.timeout(work.record(), work.peers(), work.waitedNanos());
            }
            context.checkObstacle(work.record(), work.peers());
            if (work != compared && work.isLate(Math.min(COMPARISON_MS, context.timeoutMs() / 2))) {
                compared = work;
                context.checkAgreement(work.record(), work.peers());
            }
        }
        for (Communicator communicator : communicators.all()) {
            int error = communicator.asyncError();
            if (error != NcclResult.ncclSuccess) {
                NcclWork work = streams.collectives().oldest();
                throw new CommunicationException("rank " + context.member().rank() + ": NCCL reports "
                        + NcclResult.name(error) + " (" + JNccl.ncclGetErrorString(error) + ")"
                        + (work == null ? "" : " in " + work.record())
                        + ": " + JNccl.ncclGetLastError(null)
                        + "; HINT: NCCL logs more with NCCL_DEBUG=WARN in the environment");
            }
        }
        context.checkPeers();
    }
}
