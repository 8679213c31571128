/** Ranks as MPI processes: the launcher, and collectives over the libmpi that belongs to it, opened at run time. */
@org.jspecify.annotations.NullMarked
package org.tp4j.mpi;
