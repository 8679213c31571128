/**
 * Agreement of the ranks on what must be equal: each rank keeps a {@link org.tp4j.comm.internal.agreement.Ledger}, whose
 * words are compared on rank 0 ({@link org.tp4j.comm.internal.agreement.Comparison}) while training goes on.
 */
@org.jspecify.annotations.NullMarked
package org.tp4j.comm.internal.agreement;
