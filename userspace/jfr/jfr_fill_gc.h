/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_JFR_FILL_GC_H
#define JVMSCOPE_JFR_FILL_GC_H

#include "jfr/jfr_fill_impl.h"

/* The part of jfr_fill.c for what the VM does by itself: of our files and of others. */

void jfr_fill_collection(void *ctx, const struct jfr_item *e);
void jfr_fill_gc_heap(void *ctx, const struct jfr_item *e);
void jfr_fill_gc_metaspace(void *ctx, const struct jfr_item *e);
void jfr_fill_gc_pause(void *ctx, const struct jfr_item *e);
void jfr_fill_gc_pause_level1(void *ctx, const struct jfr_item *e);
void jfr_fill_gc_pause_level2(void *ctx, const struct jfr_item *e);
void jfr_fill_gc_pause_level3(void *ctx, const struct jfr_item *e);
void jfr_fill_gc_pause_level4(void *ctx, const struct jfr_item *e);
void jfr_fill_gc_concurrent(void *ctx, const struct jfr_item *e);
void jfr_fill_gc_concurrent_level1(void *ctx, const struct jfr_item *e);
void jfr_fill_gc_concurrent_level2(void *ctx, const struct jfr_item *e);
void jfr_fill_safepoint_begin(void *ctx, const struct jfr_item *e);
void jfr_fill_safepoint_end(void *ctx, const struct jfr_item *e);
void jfr_fill_vm_operation(void *ctx, const struct jfr_item *e);
void jfr_fill_straggler(void *ctx, const struct jfr_item *e);
void jfr_fill_vm_count(void *ctx, const struct jfr_item *e);

/* At the end of the file: what came apart is put together. */
void jfr_fill_gc_end(struct jfr_filler *f);
void jfr_fill_gc_free(struct jfr_filler *f);

/* They say which JVM they are of by its process, or not at all: last, when it is known. */
#define JFR_FILL_GC_WANT(name, handler, ...)                                                    \
	{                                                                                       \
		.type = (name), .fields = { __VA_ARGS__ }, .on_event = (handler), .late = true, \
		.last = true                                                                    \
	}
#define JFR_FILL_GC_PHASE(name, handler) \
	JFR_FILL_GC_WANT(name, handler, "startTime", "duration", "gcId", "name", "pid")

#define JFR_FILL_GC_WANT_ROWS                                                                    \
	[JFR_FILL_COLLECTION] = JFR_FILL_GC_WANT(                                                \
		"jdk.GarbageCollection", jfr_fill_collection, "startTime", "duration",           \
		"eventThread", "gcId", "name", "cause", "sumOfPauses", "longestPause", "pid"),   \
	[JFR_FILL_GC_HEAP] = JFR_FILL_GC_WANT(                                                   \
		"jdk.GCHeapSummary", jfr_fill_gc_heap, "gcId", "when", "pid", "heapSpace.start", \
		"heapSpace.committedSize", "heapSpace.reservedSize", "heapUsed"),                \
	[JFR_FILL_GC_METASPACE] = JFR_FILL_GC_WANT(                                              \
		"jdk.MetaspaceSummary", jfr_fill_gc_metaspace, "gcId", "when", "pid",            \
		"gcThreshold", "metaspace.reserved", "metaspace.committed", "metaspace.used",    \
		"dataSpace.reserved", "dataSpace.committed", "dataSpace.used",                   \
		"classSpace.reserved", "classSpace.committed", "classSpace.used"),               \
	[JFR_FILL_GC_PAUSE] = JFR_FILL_GC_PHASE("jdk.GCPhasePause", jfr_fill_gc_pause),          \
	[JFR_FILL_GC_PAUSE_LEVEL1] =                                                             \
		JFR_FILL_GC_PHASE("jdk.GCPhasePauseLevel1", jfr_fill_gc_pause_level1),           \
	[JFR_FILL_GC_PAUSE_LEVEL2] =                                                             \
		JFR_FILL_GC_PHASE("jdk.GCPhasePauseLevel2", jfr_fill_gc_pause_level2),           \
	[JFR_FILL_GC_PAUSE_LEVEL3] =                                                             \
		JFR_FILL_GC_PHASE("jdk.GCPhasePauseLevel3", jfr_fill_gc_pause_level3),           \
	[JFR_FILL_GC_PAUSE_LEVEL4] =                                                             \
		JFR_FILL_GC_PHASE("jdk.GCPhasePauseLevel4", jfr_fill_gc_pause_level4),           \
	[JFR_FILL_GC_CONCURRENT] =                                                               \
		JFR_FILL_GC_PHASE("jdk.GCPhaseConcurrent", jfr_fill_gc_concurrent),              \
	[JFR_FILL_GC_CONCURRENT_LEVEL1] =                                                        \
		JFR_FILL_GC_PHASE("jdk.GCPhaseConcurrentLevel1", jfr_fill_gc_concurrent_level1), \
	[JFR_FILL_GC_CONCURRENT_LEVEL2] =                                                        \
		JFR_FILL_GC_PHASE("jdk.GCPhaseConcurrentLevel2", jfr_fill_gc_concurrent_level2), \
	[JFR_FILL_SAFEPOINT_BEGIN] =                                                             \
		JFR_FILL_GC_WANT("jdk.SafepointBegin", jfr_fill_safepoint_begin, "startTime",    \
				 "duration", "eventThread", "safepointId", "totalThreadCount",   \
				 "jniCriticalThreadCount", "pid"),                               \
	[JFR_FILL_SAFEPOINT_END] =                                                               \
		JFR_FILL_GC_WANT("jdk.SafepointEnd", jfr_fill_safepoint_end, "startTime",        \
				 "duration", "safepointId", "pid"),                              \
	[JFR_FILL_VM_OPERATION] = JFR_FILL_GC_WANT(                                              \
		"jdk.ExecuteVMOperation", jfr_fill_vm_operation, "startTime", "duration",        \
		"eventThread", "operation", "safepoint", "caller", "safepointId", "pid"),        \
	[JFR_FILL_STRAGGLER] =                                                                   \
		JFR_FILL_GC_WANT("jvmscope.Straggler", jfr_fill_straggler, "duration",           \
				 "eventThread", "stackTrace", "safepointId", "sampled", "pid"),  \
	[JFR_FILL_VM_COUNT] =                                                                    \
		JFR_FILL_GC_WANT("jvmscope.VMCount", jfr_fill_vm_count, "pid", "name", "count")

#endif
