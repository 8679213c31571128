/** NCCL: the bindings and the process group over them. */
package org.tp4j.nccl;
