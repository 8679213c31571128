/**
 * The service interface of collectives engines: {@link org.tp4j.comm.engine.EngineGroup} is what an engine extends, {@link
 * org.tp4j.comm.engine.GroupEngine} how one is found.
 */
@org.jspecify.annotations.NullMarked
package org.tp4j.comm.engine;
