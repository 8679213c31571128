package org.tp4j.nn;

import org.tp4j.op.GatherRows;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.Tensor;

/**
 * Rows of a table [vocabulary, size] by ids [...]: the result is [..., size]. Initial values are normal with deviation 1, as
 * in PyTorch.
 */
public final class Embedding extends Module {
    private final Parameter weight;
    private final long paddingId;

    /** A table in which every row trains. */
    public Embedding(long vocabulary, long size) {
        this(vocabulary, size, Initializer.normal(0, 1), GatherRows.NO_PADDING);
    }

    /**
     * @param vocabulary number of rows
     * @param size of a row
     * @param initializer of the table
     * @param paddingId an id whose row gets no gradient (negative counts from the end), or {@link GatherRows#NO_PADDING}
     */
    public Embedding(long vocabulary, long size, Initializer initializer, long paddingId) {
        this.weight = parameter(new Parameter("weight", Shape.of(vocabulary, size), initializer));
        this.paddingId = paddingId;
        if (paddingId != GatherRows.NO_PADDING && (paddingId < -vocabulary || paddingId >= vocabulary)) {
            throw new IllegalArgumentException(
                    "padding id " + paddingId + " is outside a table of " + vocabulary + " rows");
        }
    }

    /** The table, to tie an output layer to. */
    public Parameter weight() {
        return weight;
    }

    @Override
    protected Tensor forward(Tensor ids) {
        Tensor table = weight.tensor();
        return paddingId == GatherRows.NO_PADDING ? table.gatherRows(ids) : table.gatherRows(ids, paddingId);
    }
}
