package org.tp4j.nccl;

import org.tp4j.comm.CommunicationException;

/** Looks after a session from a thread of its own: what is over, what takes too long, what NCCL says, who has failed. */
final class NcclWatchdog {
    private static final long LONGEST_PERIOD_MS = 20; // how long finished calls keep their events

    private final NcclSession session;
    private final Thread thread;
    private volatile boolean over;

    NcclWatchdog(NcclSession session) {
        this.session = session;
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
        long periodMs = Math.max(
                1, Math.min(LONGEST_PERIOD_MS, session.member().options().timeoutMs() / 8));
        while (!over) {
            try {
                Thread.sleep(periodMs);
                look();
            } catch (InterruptedException e) {
                return;
            } catch (CommunicationException e) {
                session.fail(e);
                return;
            } catch (RuntimeException e) {
                // The driver's errors are sticky: the device can be used no more.
                session.fail(
                        new CommunicationException("rank " + session.member().rank() + ": " + e.getMessage(), e));
                return;
            }
        }
    }

    private void look() {
        for (NcclLane lane : session.lanes()) {
            NcclWork work = lane.oldest();
            if (work != null && work.isLate(session.member().options().timeoutMs())) {
                throw session.giveUp(work.record(), work.peers(), work.waitedNanos());
            }
        }
        for (Communicator communicator : session.communicators()) {
            int error = communicator.error();
            if (error != NcclResult.ncclSuccess) {
                NcclWork work = session.collectives().oldest();
                throw new CommunicationException("rank " + session.member().rank() + ": NCCL reports "
                        + NcclResult.name(error) + " (" + JNccl.ncclGetErrorString(error) + ")"
                        + (work == null ? "" : " in " + work.record())
                        + ": " + JNccl.ncclGetLastError(null));
            }
        }
        session.checkPeers();
    }
}
