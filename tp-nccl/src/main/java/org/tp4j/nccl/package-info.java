/** NCCL: the bindings and the process group over them. */
@org.jspecify.annotations.NullMarked
package org.tp4j.nccl;
