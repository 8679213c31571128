/** The argument structs of kernels, each described once: kernels include them as C++, launches fill them field by field. */
@org.jspecify.annotations.NullMarked
package org.tp4j.cuda.internal.arguments;
