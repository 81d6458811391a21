/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_JFR_FILL_EVENTS_H
#define JVMSCOPE_JFR_FILL_EVENTS_H

#include "jfr/jfr_chunk.h"

/*
 * The part of jfr_fill.c for samples that are not of a CPU, in our files and in others. In ours,
 * jvmscope.Total has what no sample says. ctx is a struct jfr_filler.
 */
void jfr_fill_lock_wait(void *ctx, const struct jfr_item *e);
void jfr_fill_object_wait(void *ctx, const struct jfr_item *e);
void jfr_fill_park(void *ctx, const struct jfr_item *e);
void jfr_fill_total(void *ctx, const struct jfr_item *e);

/* Their places in the list of wants, and the rows there. */
#define JFR_FILL_EVENT_PLACES \
	JFR_FILL_LOCK_WAIT, JFR_FILL_OBJECT_WAIT, JFR_FILL_PARK, JFR_FILL_TOTAL

#define JFR_FILL_EVENT_ROWS                                                                        \
	[JFR_FILL_LOCK_WAIT] = { .type = "jdk.JavaMonitorEnter",                                   \
				 .fields = { "startTime", "eventThread", "stackTrace",             \
					     "monitorClass", "duration", "address" },              \
				 .on_event = jfr_fill_lock_wait },                                 \
	[JFR_FILL_OBJECT_WAIT] = { .type = "jdk.JavaMonitorWait",                                  \
				   .fields = { "startTime", "eventThread", "stackTrace",           \
					       "monitorClass", "duration", "address", "timeout" }, \
				   .on_event = jfr_fill_object_wait },                             \
	[JFR_FILL_PARK] = { .type = "jdk.ThreadPark",                                              \
			    .fields = { "startTime", "eventThread", "stackTrace", "parkedClass",   \
					"duration", "address", "timeout" },                        \
			    .on_event = jfr_fill_park },                                           \
	[JFR_FILL_TOTAL] = { .type = "jvmscope.Total",                                             \
			     .fields = { "eventThread", "stackTrace", "metric", "label", "pid",    \
					 "count", "value" },                                       \
			     .on_event = jfr_fill_total,                                           \
			     .late = true }

#endif
