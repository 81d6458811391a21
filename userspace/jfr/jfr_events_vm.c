/* SPDX-License-Identifier: Apache-2.0 */
#include "jfr/jfr_events_impl.h"

/*
 * Events of the JDK about what the VM does by itself. Fields and labels are those that "jfr
 * metadata" of JDK 25 prints. The last field is ours: a file may be of several JVMs, and these
 * events need not name a thread.
 */

static const struct jfr_field garbage_collection[] = {
	{ "gcId", "GC Identifier", JFR_INT, JFR_UNIT_UNSIGNED },
	{ "name", "Name", JFR_GC_NAME, JFR_UNIT_NONE },
	{ "cause", "Cause", JFR_GC_CAUSE, JFR_UNIT_NONE },
	{ "sumOfPauses", "Sum of Pauses", JFR_LONG, JFR_UNIT_TICKS },
	{ "longestPause", "Longest Pause", JFR_LONG, JFR_UNIT_TICKS },
	{ "pid", "Process Identifier", JFR_LONG, JFR_UNIT_NONE },
};

static const struct jfr_field young_garbage_collection[] = {
	{ "gcId", "GC Identifier", JFR_INT, JFR_UNIT_UNSIGNED },
	{ "tenuringThreshold", "Tenuring Threshold", JFR_INT, JFR_UNIT_UNSIGNED },
	{ "pid", "Process Identifier", JFR_LONG, JFR_UNIT_NONE },
};

static const struct jfr_field old_garbage_collection[] = {
	{ "gcId", "GC Identifier", JFR_INT, JFR_UNIT_UNSIGNED },
	{ "pid", "Process Identifier", JFR_LONG, JFR_UNIT_NONE },
};

static const struct jfr_field gc_phase[] = {
	{ "gcId", "GC Identifier", JFR_INT, JFR_UNIT_UNSIGNED },
	{ "name", "Name", JFR_STRING, JFR_UNIT_NONE },
	{ "pid", "Process Identifier", JFR_LONG, JFR_UNIT_NONE },
};

static const struct jfr_field gc_heap_summary[] = {
	{ "gcId", "GC Identifier", JFR_INT, JFR_UNIT_UNSIGNED },
	{ "when", "When", JFR_GC_WHEN, JFR_UNIT_NONE },
	{ "heapSpace", "Heap Space", JFR_VIRTUAL_SPACE, JFR_UNIT_NONE },
	{ "heapUsed", "Heap Used", JFR_LONG, JFR_UNIT_BYTES },
	{ "pid", "Process Identifier", JFR_LONG, JFR_UNIT_NONE },
};

static const struct jfr_field metaspace_summary[] = {
	{ "gcId", "GC Identifier", JFR_INT, JFR_UNIT_UNSIGNED },
	{ "when", "When", JFR_GC_WHEN, JFR_UNIT_NONE },
	{ "gcThreshold", "GC Threshold", JFR_LONG, JFR_UNIT_BYTES },
	{ "metaspace", "Total", JFR_METASPACE_SIZES, JFR_UNIT_NONE },
	{ "dataSpace", "Data", JFR_METASPACE_SIZES, JFR_UNIT_NONE },
	{ "classSpace", "Class", JFR_METASPACE_SIZES, JFR_UNIT_NONE },
	{ "pid", "Process Identifier", JFR_LONG, JFR_UNIT_NONE },
};

static const struct jfr_field safepoint_begin[] = {
	{ "safepointId", "Safepoint Identifier", JFR_LONG, JFR_UNIT_UNSIGNED },
	{ "totalThreadCount", "Total Threads", JFR_INT, JFR_UNIT_NONE },
	{ "jniCriticalThreadCount", "JNI Critical Threads", JFR_INT, JFR_UNIT_NONE },
	{ "pid", "Process Identifier", JFR_LONG, JFR_UNIT_NONE },
};

static const struct jfr_field safepoint_end[] = {
	{ "safepointId", "Safepoint Identifier", JFR_LONG, JFR_UNIT_UNSIGNED },
	{ "pid", "Process Identifier", JFR_LONG, JFR_UNIT_NONE },
};

static const struct jfr_field safepoint_state_synchronization[] = {
	{ "safepointId", "Safepoint Identifier", JFR_LONG, JFR_UNIT_UNSIGNED },
	{ "initialThreadCount", "Initial Threads", JFR_INT, JFR_UNIT_NONE },
	{ "runningThreadCount", "Running Threads", JFR_INT, JFR_UNIT_NONE },
	{ "iterations", "Iterations", JFR_INT, JFR_UNIT_NONE },
	{ "pid", "Process Identifier", JFR_LONG, JFR_UNIT_NONE },
};

static const struct jfr_field execute_vm_operation[] = {
	{ "operation", "Operation", JFR_VM_OPERATION_TYPE, JFR_UNIT_NONE },
	{ "safepoint", "At Safepoint", JFR_BOOLEAN, JFR_UNIT_NONE },
	{ "blocking", "Caller Blocked", JFR_BOOLEAN, JFR_UNIT_NONE },
	{ "caller", "Caller", JFR_THREAD, JFR_UNIT_NONE },
	{ "safepointId", "Safepoint Identifier", JFR_LONG, JFR_UNIT_UNSIGNED },
	{ "pid", "Process Identifier", JFR_LONG, JFR_UNIT_NONE },
};

static const struct jfr_field vm_count[] = {
	{ "pid", "Process Identifier", JFR_LONG, JFR_UNIT_NONE },
	{ "name", "Name", JFR_STRING, JFR_UNIT_NONE },
	{ "count", "Count", JFR_LONG, JFR_UNIT_NONE },
};

static const struct jfr_field straggler[] = {
	{ "safepointId", "Safepoint Identifier", JFR_LONG, JFR_UNIT_UNSIGNED },
	{ "sampled", NULL, JFR_BOOLEAN, JFR_UNIT_NONE },
	{ "pid", "Process Identifier", JFR_LONG, JFR_UNIT_NONE },
};

#define AT(id) [JFR_##id - JFR_VM_EVENT_FIRST]

const struct jfr_type jfr_vm_events[JFR_VM_EVENT_NR] = {
	AT(GARBAGE_COLLECTION) = { "jdk.GarbageCollection", "Garbage Collection",
				   "Java Virtual Machine/GC/Collector",
				   JFR_DURATION | JFR_EVENT_THREAD, FIELDS(garbage_collection) },
	AT(YOUNG_GARBAGE_COLLECTION) = { "jdk.YoungGarbageCollection", "Young Garbage Collection",
					 "Java Virtual Machine/GC/Collector", JFR_DURATION,
					 FIELDS(young_garbage_collection) },
	AT(OLD_GARBAGE_COLLECTION) = { "jdk.OldGarbageCollection", "Old Garbage Collection",
				       "Java Virtual Machine/GC/Collector", JFR_DURATION,
				       FIELDS(old_garbage_collection) },
	AT(GC_PHASE_PAUSE) = { "jdk.GCPhasePause", "GC Phase Pause",
			       "Java Virtual Machine/GC/Phases", JFR_DURATION | JFR_EVENT_THREAD,
			       FIELDS(gc_phase) },
	AT(GC_PHASE_PAUSE_LEVEL1) = { "jdk.GCPhasePauseLevel1", "GC Phase Pause Level 1",
				      "Java Virtual Machine/GC/Phases",
				      JFR_DURATION | JFR_EVENT_THREAD, FIELDS(gc_phase) },
	AT(GC_PHASE_PAUSE_LEVEL2) = { "jdk.GCPhasePauseLevel2", "GC Phase Pause Level 2",
				      "Java Virtual Machine/GC/Phases",
				      JFR_DURATION | JFR_EVENT_THREAD, FIELDS(gc_phase) },
	AT(GC_PHASE_PAUSE_LEVEL3) = { "jdk.GCPhasePauseLevel3", "GC Phase Pause Level 3",
				      "Java Virtual Machine/GC/Phases",
				      JFR_DURATION | JFR_EVENT_THREAD, FIELDS(gc_phase) },
	AT(GC_PHASE_PAUSE_LEVEL4) = { "jdk.GCPhasePauseLevel4", "GC Phase Pause Level 4",
				      "Java Virtual Machine/GC/Phases",
				      JFR_DURATION | JFR_EVENT_THREAD, FIELDS(gc_phase) },
	AT(GC_PHASE_CONCURRENT) = { "jdk.GCPhaseConcurrent", "GC Phase Concurrent",
				    "Java Virtual Machine/GC/Phases",
				    JFR_DURATION | JFR_EVENT_THREAD, FIELDS(gc_phase) },
	AT(GC_PHASE_CONCURRENT_LEVEL1) = { "jdk.GCPhaseConcurrentLevel1",
					   "GC Phase Concurrent Level 1",
					   "Java Virtual Machine/GC/Phases",
					   JFR_DURATION | JFR_EVENT_THREAD, FIELDS(gc_phase) },
	AT(GC_PHASE_CONCURRENT_LEVEL2) = { "jdk.GCPhaseConcurrentLevel2",
					   "GC Phase Concurrent Level 2",
					   "Java Virtual Machine/GC/Phases",
					   JFR_DURATION | JFR_EVENT_THREAD, FIELDS(gc_phase) },
	AT(GC_HEAP_SUMMARY) = { "jdk.GCHeapSummary", "Heap Summary", "Java Virtual Machine/GC/Heap",
				0, FIELDS(gc_heap_summary) },
	AT(METASPACE_SUMMARY) = { "jdk.MetaspaceSummary", "Metaspace Summary",
				  "Java Virtual Machine/GC/Heap", 0, FIELDS(metaspace_summary) },
	AT(SAFEPOINT_BEGIN) = { "jdk.SafepointBegin", "Safepoint Begin",
				"Java Virtual Machine/Runtime/Safepoint",
				JFR_DURATION | JFR_EVENT_THREAD, FIELDS(safepoint_begin) },
	AT(SAFEPOINT_END) = { "jdk.SafepointEnd", "Safepoint End",
			      "Java Virtual Machine/Runtime/Safepoint",
			      JFR_DURATION | JFR_EVENT_THREAD, FIELDS(safepoint_end) },
	AT(SAFEPOINT_STATE_SYNCHRONIZATION) = { "jdk.SafepointStateSynchronization",
						"Safepoint State Synchronization",
						"Java Virtual Machine/Runtime/Safepoint",
						JFR_DURATION | JFR_EVENT_THREAD,
						FIELDS(safepoint_state_synchronization) },
	AT(EXECUTE_VM_OPERATION) = { "jdk.ExecuteVMOperation", "VM Operation",
				     "Java Virtual Machine/Runtime",
				     JFR_DURATION | JFR_EVENT_THREAD,
				     FIELDS(execute_vm_operation) },
	AT(STRAGGLER) = { "jvmscope.Straggler", "Thread Slow to Stop", "jvmscope",
			  JFR_DURATION | JFR_EVENT_THREAD | JFR_EVENT_STACK, FIELDS(straggler) },
	AT(VM_COUNT) = { "jvmscope.VMCount", "VM Probe Count", "jvmscope", 0, FIELDS(vm_count) },
};
