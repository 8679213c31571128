/** JNccl, the bindings to NCCL: methods, constants and types named as NCCL's own. */
@org.jspecify.annotations.NullMarked
package org.tp4j.nccl;
