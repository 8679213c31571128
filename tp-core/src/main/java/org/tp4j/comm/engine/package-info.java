/**
 * The service interface for collectives engines: an engine's groups extend {@link org.tp4j.comm.engine.EngineGroup}, and a
 * {@link org.tp4j.comm.engine.GroupEngine} makes them available.
 */
@org.jspecify.annotations.NullMarked
package org.tp4j.comm.engine;
