/**
 * Carries out changes of layout: a change of several axes as a plan of rows of the table, each applied to a rank's array.
 */
@org.jspecify.annotations.NullMarked
package org.tp4j.layout.internal;
