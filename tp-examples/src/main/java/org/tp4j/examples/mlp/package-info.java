/**
 * The example: a Megatron-style MLP trained on handwritten digits. {@link org.tp4j.examples.mlp.MlpTraining} has the model,
 * the plan and the training loop; {@link org.tp4j.examples.mlp.Digits} is the data. The command line, the report and the
 * check against one rank are in packages of their own, which this one does not know.
 */
@org.jspecify.annotations.NullMarked
package org.tp4j.examples.mlp;
