/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_JFR_FILL_EVENTS_H
#define JVMSCOPE_JFR_FILL_EVENTS_H

#include "jfr/jfr_chunk.h"

/*
 * The part of jfr_fill.c for samples that are not of a CPU, in our files and in others. In ours,
 * jvmscope.Total and jvmscope.OffCpu have what no sample says. ctx is a struct jfr_filler.
 */
void jfr_fill_lock_wait(void *ctx, const struct jfr_item *e);
void jfr_fill_object_wait(void *ctx, const struct jfr_item *e);
void jfr_fill_park(void *ctx, const struct jfr_item *e);
void jfr_fill_exception(void *ctx, const struct jfr_item *e);
void jfr_fill_deoptimization(void *ctx, const struct jfr_item *e);
void jfr_fill_thread_start(void *ctx, const struct jfr_item *e);
void jfr_fill_thread_end(void *ctx, const struct jfr_item *e);
void jfr_fill_compilation(void *ctx, const struct jfr_item *e);
void jfr_fill_total(void *ctx, const struct jfr_item *e);
void jfr_fill_off_cpu(void *ctx, const struct jfr_item *e);

/* Their places in the list of wants, and the rows there. */
#define JFR_FILL_EVENT_PLACES                                                                     \
	JFR_FILL_LOCK_WAIT, JFR_FILL_OBJECT_WAIT, JFR_FILL_PARK, JFR_FILL_EXCEPTION,              \
		JFR_FILL_DEOPTIMIZATION, JFR_FILL_DEOPT_REASON, JFR_FILL_DEOPT_ACTION,            \
		JFR_FILL_THREAD_START, JFR_FILL_THREAD_END, JFR_FILL_COMPILATION, JFR_FILL_TOTAL, \
		JFR_FILL_OFF_CPU

#define JFR_FILL_EVENT_ROWS                                                                        \
	[JFR_FILL_LOCK_WAIT] = { .type = "jdk.JavaMonitorEnter",                                   \
				 .fields = { "startTime", "eventThread", "stackTrace",             \
					     "monitorClass", "duration", "address",                \
					     "previousOwner" },                                    \
				 .on_event = jfr_fill_lock_wait },                                 \
	[JFR_FILL_OBJECT_WAIT] = { .type = "jdk.JavaMonitorWait",                                  \
				   .fields = { "startTime", "eventThread", "stackTrace",           \
					       "monitorClass", "duration", "address", "timeout",   \
					       "notifier" },                                       \
				   .on_event = jfr_fill_object_wait },                             \
	[JFR_FILL_PARK] = { .type = "jdk.ThreadPark",                                              \
			    .fields = { "startTime", "eventThread", "stackTrace", "parkedClass",   \
					"duration", "address", "timeout" },                        \
			    .on_event = jfr_fill_park },                                           \
	[JFR_FILL_EXCEPTION] = { .type = "jdk.JavaExceptionThrow",                                 \
				 .fields = { "startTime", "eventThread", "stackTrace",             \
					     "thrownClass" },                                      \
				 .on_event = jfr_fill_exception },                                 \
	[JFR_FILL_DEOPTIMIZATION] = { .type = "jdk.Deoptimization",                                \
				      .fields = { "startTime", "eventThread", "stackTrace",        \
						  "reason", "action" },                            \
				      .on_event = jfr_fill_deoptimization },                       \
	[JFR_FILL_DEOPT_REASON] = { .type = "jdk.types.DeoptimizationReason",                      \
				    .fields = { NULL } },                                          \
	[JFR_FILL_DEOPT_ACTION] = { .type = "jdk.types.DeoptimizationAction",                      \
				    .fields = { NULL } },                                          \
	[JFR_FILL_THREAD_START] = { .type = "jdk.ThreadStart",                                     \
				    .fields = { "startTime", "thread", "parentThread",             \
						"stackTrace" },                                    \
				    .on_event = jfr_fill_thread_start,                             \
				    .late = true },                                                \
	[JFR_FILL_THREAD_END] = { .type = "jdk.ThreadEnd",                                         \
				  .fields = { "startTime", "thread" },                             \
				  .on_event = jfr_fill_thread_end,                                 \
				  .late = true },                                                  \
	[JFR_FILL_COMPILATION] = { .type = "jdk.Compilation",                                      \
				   .fields = { "startTime", "duration", "eventThread",             \
					       "compileId", "method", "compileLevel", "isOsr",     \
					       "inlinedBytes", "osrBci", "succeded", "codeSize" }, \
				   .on_event = jfr_fill_compilation,                               \
				   .late = true },                                                 \
	[JFR_FILL_TOTAL] = { .type = "jvmscope.Total",                                             \
			     .fields = { "eventThread", "stackTrace", "metric", "label", "pid",    \
					 "count", "value" },                                       \
			     .on_event = jfr_fill_total,                                           \
			     .late = true },                                                       \
	[JFR_FILL_OFF_CPU] = { .type = "jvmscope.OffCpu",                                          \
			       .fields = { "eventThread", "stackTrace", "reason", "pid", "count",  \
					   "time" },                                               \
			       .on_event = jfr_fill_off_cpu,                                       \
			       .late = true }

#endif
