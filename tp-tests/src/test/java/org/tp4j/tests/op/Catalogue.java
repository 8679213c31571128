package org.tp4j.tests.op;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Function;
import org.tp4j.tensor.Tensor;
import org.tp4j.tests.oracle.Whole;

/** Every operation of {@link Tensor} with a generator of operands for it. */
final class Catalogue {
    private final Map<String, Function<Draw, Sample>> entries = new LinkedHashMap<>();

    private Catalogue() {}

    /** All of them. */
    static Catalogue all() {
        Catalogue catalogue = new Catalogue();
        ElementwiseSamples.addTo(catalogue);
        ReductionSamples.addTo(catalogue);
        ShapeSamples.addTo(catalogue);
        NetworkSamples.addTo(catalogue);
        return catalogue;
    }

    /** Names of the entries. */
    List<String> names() {
        return List.copyOf(entries.keySet());
    }

    /** Operands for an entry. */
    Sample draw(String name, Random random, Draw.Sizes sizes) {
        return entries.get(name).apply(new Draw(random, sizes));
    }

    void add(String name, Function<Draw, Sample> entry) {
        if (entries.put(name, entry) != null) {
            throw new IllegalArgumentException("two entries are called " + name);
        }
    }

    /** An operation of one tensor. */
    void unary(String name, Function<Draw, Whole> operand, Function<Tensor, Tensor> function) {
        add(name, draw -> new Sample(name, List.of(operand.apply(draw)), in -> function.apply(in.get(0))));
    }
}
