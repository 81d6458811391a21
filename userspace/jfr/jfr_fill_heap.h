/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_JFR_FILL_HEAP_H
#define JVMSCOPE_JFR_FILL_HEAP_H

#include "jfr/jfr_chunk.h"

/* The part of jfr_fill.c for the Java heap. ctx is a struct jfr_filler. */
void jfr_fill_new_tlab(void *ctx, const struct jfr_item *e);
void jfr_fill_outside_tlab(void *ctx, const struct jfr_item *e);
void jfr_fill_allocation_sample(void *ctx, const struct jfr_item *e);
void jfr_fill_heap_class(void *ctx, const struct jfr_item *e);

/* Their places in the list of wants, and the rows there. */
#define JFR_FILL_HEAP_PLACES \
	JFR_FILL_NEW_TLAB, JFR_FILL_OUTSIDE_TLAB, JFR_FILL_ALLOCATION_SAMPLE, JFR_FILL_HEAP_CLASS

#define JFR_FILL_HEAP_ROWS                                                                     \
	[JFR_FILL_NEW_TLAB] = { .type = "jdk.ObjectAllocationInNewTLAB",                       \
				.fields = { "startTime", "eventThread", "stackTrace",          \
					    "objectClass", "allocationSize", "tlabSize" },     \
				.on_event = jfr_fill_new_tlab },                               \
	[JFR_FILL_OUTSIDE_TLAB] = { .type = "jdk.ObjectAllocationOutsideTLAB",                 \
				    .fields = { "startTime", "eventThread", "stackTrace",      \
						"objectClass", "allocationSize" },             \
				    .on_event = jfr_fill_outside_tlab },                       \
	[JFR_FILL_ALLOCATION_SAMPLE] = { .type = "jdk.ObjectAllocationSample",                 \
					 .fields = { "startTime", "eventThread", "stackTrace", \
						     "objectClass", "weight" },                \
					 .on_event = jfr_fill_allocation_sample },             \
	[JFR_FILL_HEAP_CLASS] = { .type = "jvmscope.HeapClass",                                \
				  .fields = { "objectClass", "pid", "tlabCount", "tlabSize",   \
					      "insideSize", "outsideCount", "outsideSize" },   \
				  .on_event = jfr_fill_heap_class,                             \
				  .late = true }

#endif
