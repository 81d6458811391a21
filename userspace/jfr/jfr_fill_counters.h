/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_JFR_FILL_COUNTERS_H
#define JVMSCOPE_JFR_FILL_COUNTERS_H

#include "jfr/jfr_chunk.h"

/* What a JVM counts in its own recording, as values over time. ctx is a struct jfr_filler. */
void jfr_fill_thread_statistics(void *ctx, const struct jfr_item *e);
void jfr_fill_class_statistics(void *ctx, const struct jfr_item *e);
void jfr_fill_resident_set_size(void *ctx, const struct jfr_item *e);
void jfr_fill_heap_usage(void *ctx, const struct jfr_item *e);
void jfr_fill_throttling(void *ctx, const struct jfr_item *e);
void jfr_fill_physical_memory(void *ctx, const struct jfr_item *e);

/* Their places in the list of wants, and the rows there. */
#define JFR_FILL_COUNTER_PLACES                                                            \
	JFR_FILL_THREAD_STATISTICS, JFR_FILL_CLASS_STATISTICS, JFR_FILL_RESIDENT_SET_SIZE, \
		JFR_FILL_HEAP_USAGE, JFR_FILL_THROTTLING, JFR_FILL_PHYSICAL_MEMORY

#define JFR_FILL_COUNTER_ROWS                                                                   \
	[JFR_FILL_THREAD_STATISTICS] = { .type = "jdk.JavaThreadStatistics",                    \
					 .fields = { "startTime", "activeCount", "daemonCount", \
						     "accumulatedCount", "peakCount" },         \
					 .on_event = jfr_fill_thread_statistics,                \
					 .late = true },                                        \
	[JFR_FILL_CLASS_STATISTICS] = { .type = "jdk.ClassLoadingStatistics",                   \
					.fields = { "startTime", "loadedClassCount",            \
						    "unloadedClassCount" },                     \
					.on_event = jfr_fill_class_statistics,                  \
					.late = true },                                         \
	[JFR_FILL_RESIDENT_SET_SIZE] = { .type = "jdk.ResidentSetSize",                         \
					 .fields = { "startTime", "size", "peak" },             \
					 .on_event = jfr_fill_resident_set_size,                \
					 .late = true },                                        \
	[JFR_FILL_HEAP_USAGE] = { .type = "jdk.GCHeapMemoryUsage",                              \
				  .fields = { "startTime", "used", "committed" },               \
				  .on_event = jfr_fill_heap_usage,                              \
				  .late = true },                                               \
	[JFR_FILL_THROTTLING] = { .type = "jdk.ContainerCPUThrottling",                         \
				  .fields = { "startTime", "cpuElapsedSlices",                  \
					      "cpuThrottledSlices", "cpuThrottledTime" },       \
				  .on_event = jfr_fill_throttling,                              \
				  .late = true },                                               \
	[JFR_FILL_PHYSICAL_MEMORY] = { .type = "jdk.PhysicalMemory",                            \
				       .fields = { "startTime", "totalSize", "usedSize" },      \
				       .on_event = jfr_fill_physical_memory,                    \
				       .late = true }

#endif
