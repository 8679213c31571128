/**
 * What a plan costs, before anything is allocated or started: {@link org.tp4j.planner.DryRun} runs one step of a model for
 * its shapes alone; {@link org.tp4j.planner.PlanTable} shows the layout of each parameter, what flows and what is
 * communicated.
 */
@org.jspecify.annotations.NullMarked
package org.tp4j.planner;
