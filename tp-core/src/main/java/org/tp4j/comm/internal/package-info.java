/** What groups share and users need not see. */
@org.jspecify.annotations.NullMarked
package org.tp4j.comm.internal;
