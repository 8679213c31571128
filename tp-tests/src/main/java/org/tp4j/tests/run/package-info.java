/** What the runners share: ranks of every number asked for, one verdict a job, and how differences are measured. */
@org.jspecify.annotations.NullMarked
package org.tp4j.tests.run;
