package org.tp4j.nn;

import org.tp4j.op.internal.GatherRowsOp;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.Tensor;

/**
 * Rows of a table by number: Y[..., :] = weight[ids[...], :].
 *
 * <table>
 * <caption>Tensors</caption>
 * <tr><th>tensor</th><th>shape</th><th>split by row (vocabulary)</th><th>split by column (features)</th></tr>
 * <tr><td>ids, integers</td><td>[...]</td><td>whole</td><td>whole</td></tr>
 * <tr><td>weight</td><td>[vocabulary, size]</td><td>Shard(0)</td><td>Shard(1)</td></tr>
 * <tr><td>Y</td><td>[..., size]</td><td>Partial: each rank looks up the ids it owns, then all-reduce</td><td>Shard(-1)</td></tr>
 * </table>
 *
 * <p>Backward: dweight[i] = Σ dY of all places where id i stands, the padding id left out; exact up to the order of that
 * sum. Kept for backward: ids. Initial values are normal with deviation 1, as in PyTorch (there the padding row is 0 at
 * first; here it is drawn like the others).
 */
public final class Embedding extends Layer {
    private final Parameter weight;
    private final long paddingId;

    /** A table in which every row trains. */
    public Embedding(long vocabulary, long size) {
        this(vocabulary, size, Initializer.normal(0, 1), GatherRowsOp.NO_PADDING);
    }

    /**
     * @param vocabulary number of rows
     * @param size size of a row
     * @param initializer initial values of the table
     * @param paddingId an id whose row gets no gradient (negative counts from the end), or {@link GatherRowsOp#NO_PADDING}
     */
    public Embedding(long vocabulary, long size, Initializer initializer, long paddingId) {
        this.weight = parameter(new Parameter("weight", Shape.of(vocabulary, size), initializer));
        this.paddingId = paddingId;
        if (paddingId != GatherRowsOp.NO_PADDING && (paddingId < -vocabulary || paddingId >= vocabulary)) {
            throw new IllegalArgumentException(
                    "padding id " + paddingId + " is outside a table of " + vocabulary + " rows");
        }
    }

    /** The table, to tie an output layer to. */
    public Parameter weight() {
        return weight;
    }

    @Override
    protected String describe() {
        String sizes = weight.shape().size(0) + " x " + weight.shape().size(1);
        return paddingId == GatherRowsOp.NO_PADDING ? sizes : sizes + ", padding id " + paddingId;
    }

    @Override
    protected Tensor forward(Tensor ids) {
        Tensor table = weight.tensor();
        return paddingId == GatherRowsOp.NO_PADDING ? table.gatherRows(ids) : table.gatherRows(ids, paddingId);
    }
}
