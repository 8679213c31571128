/**
 * The Megatron-style MLP trained on handwritten digits. Read {@link org.tp4j.examples.mlp.MlpTraining} first: it holds the
 * model, the plan and the training loop; everything else here is the command around it.
 */
@org.jspecify.annotations.NullMarked
package org.tp4j.examples.mlp;
