package org.tp4j.parallel;

import java.util.List;
import java.util.Map;
import org.tp4j.layout.Placement;
import org.tp4j.nn.Module;

/**
 * Runs a module that treats positions independently (a norm, dropout) on this rank's part of the sequence (Korthikanti et al., arXiv
 * 2205.05198, section 4.2.2). Its parameters are Invariant and promoted where they meet the shard; their gradients
 * join the deferred sum.
 *
 * @param dim dimension of the sequence
 * @param input placement of a plain input along the axis
 * @param localOutput whether the result is returned as this rank's plain tensor
 */
public record SequenceParallel(int dim, Placement input, boolean localOutput) implements ParallelStyle {
    /** The sequence is dimension 1, as in [batch, sequence, features]; plain inputs are Invariant. */
    public SequenceParallel() {
        this(1);
    }

    /** The sequence is dimension {@code dim}; plain inputs are Invariant. */
    public SequenceParallel(int dim) {
        this(dim, Placement.invariant(), false);
    }

    @Override
    public String toString() {
        return Styles.text(
                "SequenceParallel",
                "dim " + dim,
                input.equals(Placement.invariant()) ? "" : "input " + input,
                localOutput ? "local output" : "");
    }

    @Override
    public List<String> validate(String path, Module module, int ranks) {
        return Styles.dimProblems(this, path, input, Placement.shard(dim));
    }

    @Override
    public Map<String, Placement> placements(Module module) {
        return Map.of();
    }

    @Override
    public void install(Module module, MeshAxis axis) {
        module.addInputHook(x -> axis.bring(x, input, Placement.shard(dim)));
        module.addOutputHook(y -> Styles.finish(y, axis, null, localOutput));
    }
}
