package org.tp4j.tests.autograd.program;

import java.util.List;
import java.util.function.Function;
import org.tp4j.tensor.Tensor;

/**
 * What a program does next.
 *
 * @param name for messages and counts
 * @param operands entries it reads
 * @param alone what one rank does
 * @param spread what each of several ranks does, usually the same
 */
record Step(
        String name,
        List<Entry> operands,
        Function<List<Tensor>, Tensor> alone,
        Function<List<Tensor>, Tensor> spread) {
    static Step of(String name, Function<List<Tensor>, Tensor> both, Entry... operands) {
        return new Step(name, List.of(operands), both, both);
    }

    static Step unary(String name, Entry operand, Function<Tensor, Tensor> both) {
        return of(name, in -> both.apply(in.get(0)), operand);
    }

    Tensor runAlone() {
        return alone.apply(operands.stream().map(Entry::alone).toList());
    }

    Tensor runSpread() {
        return spread.apply(operands.stream().map(Entry::spread).toList());
    }
}
