package org.tp4j.threads;

import org.tp4j.comm.Work;

/** A call on an in-JVM group, as one of its ranks waits for it. */
final class ThreadWork implements Work {
    private final Exchange exchange;
    private final SharedCall call;
    private final Party party;

    ThreadWork(Exchange exchange, SharedCall call, Party party) {
        this.exchange = exchange;
        this.call = call;
        this.party = party;
    }

    @Override
    public boolean isDone() {
        if (call.state() == SharedCall.READY) {
            call.help();
        }
        int state = call.state();
        if (state == SharedCall.DONE) {
            party.record().done();
        }
        return state >= SharedCall.DONE;
    }

    @Override
    public void await() {
        int state = call.state();
        while (state < SharedCall.DONE) {
            if (state == SharedCall.READY) {
                call.help();
            }
            state = exchange.waitWhile(state, call, party);
        }
        if (state == SharedCall.FAILED) {
            party.record().failed();
            throw call.exception();
        }
        party.record().done();
    }
}
