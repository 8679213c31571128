package org.tp4j.nccl.internal;

import org.tp4j.nccl.NcclConfig;
import org.tp4j.tensor.TpException;

/**
 * How communicators are made: blocking, and with as many thread blocks per kernel as {@code -Dtp4j.nccl.minCTAs=N} and {@code
 * -Dtp4j.nccl.maxCTAs=N} say. More of them move data faster, fewer leave multiprocessors to products beside.
 */
final class NcclSettings {
    static final String MIN_CTAS = "tp4j.nccl.minCTAs";
    static final String MAX_CTAS = "tp4j.nccl.maxCTAs";

    private NcclSettings() {}

    static NcclConfig config() {
        int undefined = NcclConfig.NCCL_CONFIG_UNDEF_INT;
        int least = Integer.getInteger(MIN_CTAS, undefined);
        int most = Integer.getInteger(MAX_CTAS, undefined);
        if ((least != undefined && least < 1) || (most != undefined && most < Math.max(1, least))) {
            throw new TpException("-D" + MIN_CTAS + "=" + System.getProperty(MIN_CTAS) + " and -D" + MAX_CTAS + "="
                    + System.getProperty(MAX_CTAS)
                    + "; HINT: at least 1, and no more blocks at the least than at most");
        }
        return NcclConfig.initializer().withBlocking(1).withCTAs(least, most);
    }
}
