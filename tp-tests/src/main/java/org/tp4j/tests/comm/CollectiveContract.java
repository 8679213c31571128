package org.tp4j.tests.comm;

import java.util.ArrayList;
import java.util.List;

/** What every collectives engine passes, in worlds of 1 to 4 ranks. */
public final class CollectiveContract {
    private CollectiveContract() {}

    /** The checks of all engines, in an order that is the same on all ranks. */
    public static List<Check> checks() {
        List<Check> checks = new ArrayList<>();
        checks.addAll(GroupChecks.all());
        checks.addAll(MovementChecks.all());
        checks.addAll(ReductionChecks.all());
        checks.addAll(SpecialValueChecks.all());
        return checks;
    }

    /** The checks of engines that compare calls always, and of all others in checking mode. */
    public static List<Check> agreement() {
        return AgreementChecks.all();
    }
}
