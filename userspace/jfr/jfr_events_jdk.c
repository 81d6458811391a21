/* SPDX-License-Identifier: Apache-2.0 */
#include "jfr/jfr_events_impl.h"

/*
 * Events of the JDK that are written here. Fields and labels are those that "jfr metadata" of JDK
 * 25 prints; where 17 differs, the later form is read by both.
 */

static const struct jfr_field execution_sample[] = {
	{ "sampledThread", "Thread", JFR_THREAD, JFR_UNIT_NONE },
	{ "stackTrace", "Stack Trace", JFR_STACK_TRACE, JFR_UNIT_NONE },
	{ "state", "Thread State", JFR_THREAD_STATE, JFR_UNIT_NONE },
};

static const struct jfr_field native_method_sample[] = {
	{ "sampledThread", "Thread", JFR_THREAD, JFR_UNIT_NONE },
	{ "stackTrace", "Stack Trace", JFR_STACK_TRACE, JFR_UNIT_NONE },
	{ "state", "Thread State", JFR_THREAD_STATE, JFR_UNIT_NONE },
};

static const struct jfr_field cpu_time_sample[] = {
	{ "stackTrace", "Stack Trace", JFR_STACK_TRACE, JFR_UNIT_NONE },
	{ "eventThread", "Thread", JFR_THREAD, JFR_UNIT_NONE },
	{ "failed", "Failed", JFR_BOOLEAN, JFR_UNIT_NONE },
	{ "samplingPeriod", "CPU Time Sampling Period", JFR_LONG, JFR_UNIT_TICKS },
	{ "biased", "Biased", JFR_BOOLEAN, JFR_UNIT_NONE },
};

static const struct jfr_field object_allocation_in_new_tlab[] = {
	{ "objectClass", "Object Class", JFR_CLASS, JFR_UNIT_NONE },
	{ "allocationSize", "Allocation Size", JFR_LONG, JFR_UNIT_BYTES },
	{ "tlabSize", "TLAB Size", JFR_LONG, JFR_UNIT_BYTES },
};

static const struct jfr_field object_allocation_outside_tlab[] = {
	{ "objectClass", "Object Class", JFR_CLASS, JFR_UNIT_NONE },
	{ "allocationSize", "Allocation Size", JFR_LONG, JFR_UNIT_BYTES },
};

static const struct jfr_field object_allocation_sample[] = {
	{ "objectClass", "Object Class", JFR_CLASS, JFR_UNIT_NONE },
	{ "weight", "Sample Weight", JFR_LONG, JFR_UNIT_BYTES },
};

static const struct jfr_field cpu_load[] = {
	{ "jvmUser", "JVM User", JFR_FLOAT, JFR_UNIT_PERCENT },
	{ "jvmSystem", "JVM System", JFR_FLOAT, JFR_UNIT_PERCENT },
	{ "machineTotal", "Machine Total", JFR_FLOAT, JFR_UNIT_PERCENT },
};

static const struct jfr_field thread_cpu_load[] = {
	{ "user", "User Mode CPU Load", JFR_FLOAT, JFR_UNIT_PERCENT },
	{ "system", "System Mode CPU Load", JFR_FLOAT, JFR_UNIT_PERCENT },
};

static const struct jfr_field thread_context_switch_rate[] = {
	{ "switchRate", "Switch Rate", JFR_FLOAT, JFR_UNIT_HZ },
};

static const struct jfr_field java_thread_statistics[] = {
	{ "activeCount", "Active Threads", JFR_LONG, JFR_UNIT_NONE },
	{ "daemonCount", "Daemon Threads", JFR_LONG, JFR_UNIT_NONE },
	{ "accumulatedCount", "Accumulated Threads", JFR_LONG, JFR_UNIT_NONE },
	{ "peakCount", "Peak Threads", JFR_LONG, JFR_UNIT_NONE },
};

static const struct jfr_field thread_start[] = {
	{ "thread", "New Java Thread", JFR_THREAD, JFR_UNIT_NONE },
	{ "parentThread", "Parent Java Thread", JFR_THREAD, JFR_UNIT_NONE },
};

static const struct jfr_field thread_end[] = {
	{ "thread", "Java Thread", JFR_THREAD, JFR_UNIT_NONE },
};

static const struct jfr_field java_monitor_enter[] = {
	{ "monitorClass", "Monitor Class", JFR_CLASS, JFR_UNIT_NONE },
	{ "previousOwner", "Previous Monitor Owner", JFR_THREAD, JFR_UNIT_NONE },
	{ "address", "Monitor Address", JFR_LONG, JFR_UNIT_ADDRESS },
};

static const struct jfr_field java_monitor_wait[] = {
	{ "monitorClass", "Monitor Class", JFR_CLASS, JFR_UNIT_NONE },
	{ "notifier", "Notifier Thread", JFR_THREAD, JFR_UNIT_NONE },
	{ "timeout", "Timeout", JFR_LONG, JFR_UNIT_MS },
	{ "timedOut", "Timed Out", JFR_BOOLEAN, JFR_UNIT_NONE },
	{ "address", "Monitor Address", JFR_LONG, JFR_UNIT_ADDRESS },
};

static const struct jfr_field thread_park[] = {
	{ "parkedClass", "Class Parked On", JFR_CLASS, JFR_UNIT_NONE },
	{ "timeout", "Park Timeout", JFR_LONG, JFR_UNIT_NS },
	{ "until", "Park Until", JFR_LONG, JFR_UNIT_MS_AT },
	{ "address", "Address of Object Parked", JFR_LONG, JFR_UNIT_ADDRESS },
};

static const struct jfr_field thread_sleep[] = {
	{ "time", "Sleep Time", JFR_LONG, JFR_UNIT_NS },
};

static const struct jfr_field compilation[] = {
	{ "compileId", "Compilation Identifier", JFR_INT, JFR_UNIT_NONE },
	{ "compiler", "Compiler", JFR_COMPILER_TYPE, JFR_UNIT_NONE },
	{ "method", "Method", JFR_METHOD, JFR_UNIT_NONE },
	{ "compileLevel", "Compilation Level", JFR_SHORT, JFR_UNIT_UNSIGNED },
	{ "succeded", "Succeeded", JFR_BOOLEAN, JFR_UNIT_NONE },
	{ "isOsr", "On Stack Replacement", JFR_BOOLEAN, JFR_UNIT_NONE },
	{ "codeSize", "Compiled Code Size", JFR_LONG, JFR_UNIT_BYTES },
	{ "inlinedBytes", "Inlined Code Size", JFR_LONG, JFR_UNIT_BYTES },
	{ "arenaBytes", "Arena Usage", JFR_LONG, JFR_UNIT_BYTES },
	{ "osrBci", NULL, JFR_INT, JFR_UNIT_NONE }, /* ours; -1: the whole method */
};

static const struct jfr_field compiler_phase[] = {
	{ "phase", "Compile Phase", JFR_COMPILER_PHASE_TYPE, JFR_UNIT_NONE },
	{ "compileId", "Compilation Identifier", JFR_INT, JFR_UNIT_NONE },
	{ "phaseLevel", "Phase Level", JFR_SHORT, JFR_UNIT_UNSIGNED },
};

static const struct jfr_field deoptimization[] = {
	{ "compileId", "Compilation Identifier", JFR_INT, JFR_UNIT_NONE },
	{ "compiler", "Compiler", JFR_COMPILER_TYPE, JFR_UNIT_NONE },
	{ "method", "Method", JFR_METHOD, JFR_UNIT_NONE },
	{ "lineNumber", "Line Number", JFR_INT, JFR_UNIT_NONE },
	{ "bci", "Bytecode Index", JFR_INT, JFR_UNIT_NONE },
	{ "instruction", "Instruction", JFR_BYTECODE, JFR_UNIT_NONE },
	{ "reason", "Reason", JFR_DEOPTIMIZATION_REASON, JFR_UNIT_NONE },
	{ "action", "Action", JFR_DEOPTIMIZATION_ACTION, JFR_UNIT_NONE },
};

static const struct jfr_field java_exception_throw[] = {
	{ "message", "Message", JFR_STRING, JFR_UNIT_NONE },
	{ "thrownClass", "Class", JFR_CLASS, JFR_UNIT_NONE },
};

static const struct jfr_field java_error_throw[] = {
	{ "message", "Message", JFR_STRING, JFR_UNIT_NONE },
	{ "thrownClass", "Class", JFR_CLASS, JFR_UNIT_NONE },
};

static const struct jfr_field exception_statistics[] = {
	{ "throwables", "Exceptions Created", JFR_LONG, JFR_UNIT_NONE },
};

static const struct jfr_field class_load[] = {
	{ "loadedClass", "Loaded Class", JFR_CLASS, JFR_UNIT_NONE },
	{ "definingClassLoader", "Defining Class Loader", JFR_CLASS_LOADER, JFR_UNIT_NONE },
	{ "initiatingClassLoader", "Initiating Class Loader", JFR_CLASS_LOADER, JFR_UNIT_NONE },
};

static const struct jfr_field class_define[] = {
	{ "definedClass", "Defined Class", JFR_CLASS, JFR_UNIT_NONE },
	{ "definingClassLoader", "Defining Class Loader", JFR_CLASS_LOADER, JFR_UNIT_NONE },
};

static const struct jfr_field class_unload[] = {
	{ "unloadedClass", "Unloaded Class", JFR_CLASS, JFR_UNIT_NONE },
	{ "definingClassLoader", "Defining Class Loader", JFR_CLASS_LOADER, JFR_UNIT_NONE },
};

static const struct jfr_field class_loading_statistics[] = {
	{ "loadedClassCount", "Loaded Class Count", JFR_LONG, JFR_UNIT_NONE },
	{ "unloadedClassCount", "Unloaded Class Count", JFR_LONG, JFR_UNIT_NONE },
};

static const struct jfr_field class_loader_statistics[] = {
	{ "classLoader", "Class Loader", JFR_CLASS_LOADER, JFR_UNIT_NONE },
	{ "parentClassLoader", "Parent Class Loader", JFR_CLASS_LOADER, JFR_UNIT_NONE },
	{ "classLoaderData", "ClassLoaderData Pointer", JFR_LONG, JFR_UNIT_ADDRESS },
	{ "classCount", "Classes", JFR_LONG, JFR_UNIT_NONE },
	{ "chunkSize", "Total Chunk Size", JFR_LONG, JFR_UNIT_BYTES },
	{ "blockSize", "Total Block Size", JFR_LONG, JFR_UNIT_BYTES },
	{ "hiddenClassCount", "Hidden Classes", JFR_LONG, JFR_UNIT_NONE },
	{ "hiddenChunkSize", "Total Hidden Classes Chunk Size", JFR_LONG, JFR_UNIT_BYTES },
	{ "hiddenBlockSize", "Total Hidden Classes Block Size", JFR_LONG, JFR_UNIT_BYTES },
};

static const struct jfr_field gc_configuration[] = {
	{ "youngCollector", "Young Garbage Collector", JFR_GC_NAME, JFR_UNIT_NONE },
	{ "oldCollector", "Old Garbage Collector", JFR_GC_NAME, JFR_UNIT_NONE },
	{ "parallelGCThreads", "Parallel GC Threads", JFR_INT, JFR_UNIT_UNSIGNED },
	{ "concurrentGCThreads", "Concurrent GC Threads", JFR_INT, JFR_UNIT_UNSIGNED },
	{ "usesDynamicGCThreads", "Uses Dynamic GC Threads", JFR_BOOLEAN, JFR_UNIT_NONE },
	{ "isExplicitGCConcurrent", "Concurrent Explicit GC", JFR_BOOLEAN, JFR_UNIT_NONE },
	{ "isExplicitGCDisabled", "Disabled Explicit GC", JFR_BOOLEAN, JFR_UNIT_NONE },
	{ "pauseTarget", "Pause Target", JFR_LONG, JFR_UNIT_MS },
	{ "gcTimeRatio", "GC Time Ratio", JFR_INT, JFR_UNIT_UNSIGNED },
};

static const struct jfr_field gc_heap_configuration[] = {
	{ "minSize", "Minimum Heap Size", JFR_LONG, JFR_UNIT_BYTES },
	{ "maxSize", "Maximum Heap Size", JFR_LONG, JFR_UNIT_BYTES },
	{ "initialSize", "Initial Heap Size", JFR_LONG, JFR_UNIT_BYTES },
	{ "usesCompressedOops", "If Compressed Oops Are Used", JFR_BOOLEAN, JFR_UNIT_NONE },
	{ "compressedOopsMode", "Compressed Oops Mode", JFR_NARROW_OOP_MODE, JFR_UNIT_NONE },
	{ "objectAlignment", "Object Alignment", JFR_LONG, JFR_UNIT_BYTES },
	{ "heapAddressBits", "Heap Address Size", JFR_BYTE, JFR_UNIT_UNSIGNED },
};

static const struct jfr_field system_gc[] = {
	{ "invokedConcurrent", "Invoked Concurrent", JFR_BOOLEAN, JFR_UNIT_NONE },
};

static const struct jfr_field native_memory_usage[] = {
	{ "type", "Memory Type", JFR_NMT_TYPE, JFR_UNIT_NONE },
	{ "reserved", "Reserved Memory", JFR_LONG, JFR_UNIT_BYTES },
	{ "committed", "Committed Memory", JFR_LONG, JFR_UNIT_BYTES },
};

static const struct jfr_field native_memory_usage_total[] = {
	{ "reserved", "Reserved Memory", JFR_LONG, JFR_UNIT_BYTES },
	{ "committed", "Committed Memory", JFR_LONG, JFR_UNIT_BYTES },
};

static const struct jfr_field resident_set_size[] = {
	{ "size", "Resident Set Size", JFR_LONG, JFR_UNIT_BYTES },
	{ "peak", "Resident Set Size Peak Value", JFR_LONG, JFR_UNIT_BYTES },
};

static const struct jfr_field physical_memory[] = {
	{ "totalSize", "Total Size", JFR_LONG, JFR_UNIT_BYTES },
	{ "usedSize", "Used Size", JFR_LONG, JFR_UNIT_BYTES },
};

static const struct jfr_field native_library[] = {
	{ "name", "Name", JFR_STRING, JFR_UNIT_NONE },
	{ "baseAddress", "Base Address", JFR_LONG, JFR_UNIT_ADDRESS },
	{ "topAddress", "Top Address", JFR_LONG, JFR_UNIT_ADDRESS },
};

static const struct jfr_field jvm_information[] = {
	{ "jvmName", "JVM Name", JFR_STRING, JFR_UNIT_NONE },
	{ "jvmVersion", "JVM Version", JFR_STRING, JFR_UNIT_NONE },
	{ "jvmArguments", "JVM Command Line Arguments", JFR_STRING, JFR_UNIT_NONE },
	{ "jvmFlags", "JVM Settings File Arguments", JFR_STRING, JFR_UNIT_NONE },
	{ "javaArguments", "Java Application Arguments", JFR_STRING, JFR_UNIT_NONE },
	{ "jvmStartTime", "JVM Start Time", JFR_LONG, JFR_UNIT_MS_AT },
	{ "pid", "Process Identifier", JFR_LONG, JFR_UNIT_NONE },
};

static const struct jfr_field os_information[] = {
	{ "osVersion", "OS Version", JFR_STRING, JFR_UNIT_NONE },
};

static const struct jfr_field cpu_information[] = {
	{ "cpu", "Type", JFR_STRING, JFR_UNIT_NONE },
	{ "description", "Description", JFR_STRING, JFR_UNIT_NONE },
	{ "sockets", "Sockets", JFR_INT, JFR_UNIT_UNSIGNED },
	{ "cores", "Cores", JFR_INT, JFR_UNIT_UNSIGNED },
	{ "hwThreads", "Hardware Threads", JFR_INT, JFR_UNIT_UNSIGNED },
};

static const struct jfr_field virtualization_information[] = {
	{ "name", "Name", JFR_STRING, JFR_UNIT_NONE },
};

static const struct jfr_field container_configuration[] = {
	{ "containerType", "Container Type", JFR_STRING, JFR_UNIT_NONE },
	{ "cpuSlicePeriod", "CPU Slice Period", JFR_LONG, JFR_UNIT_US },
	{ "cpuQuota", "CPU Quota", JFR_LONG, JFR_UNIT_US },
	{ "cpuShares", "CPU Shares", JFR_LONG, JFR_UNIT_NONE },
	{ "effectiveCpuCount", "Effective CPU Count", JFR_LONG, JFR_UNIT_NONE },
	{ "memorySoftLimit", "Memory Soft Limit", JFR_LONG, JFR_UNIT_BYTES },
	{ "memoryLimit", "Memory Limit", JFR_LONG, JFR_UNIT_BYTES },
	{ "swapMemoryLimit", "Memory and Swap Limit", JFR_LONG, JFR_UNIT_BYTES },
	{ "hostTotalMemory", "Container Host Total Memory", JFR_LONG, JFR_UNIT_BYTES },
	{ "hostTotalSwapMemory", "Container Host Total Swap Memory", JFR_LONG, JFR_UNIT_BYTES },
};

static const struct jfr_field container_cpu_usage[] = {
	{ "cpuTime", "CPU Time", JFR_LONG, JFR_UNIT_NS },
	{ "cpuUserTime", "CPU User Time", JFR_LONG, JFR_UNIT_NS },
	{ "cpuSystemTime", "CPU System Time", JFR_LONG, JFR_UNIT_NS },
};

static const struct jfr_field container_cpu_throttling[] = {
	{ "cpuElapsedSlices", "CPU Elapsed Slices", JFR_LONG, JFR_UNIT_NONE },
	{ "cpuThrottledSlices", "CPU Throttled Slices", JFR_LONG, JFR_UNIT_NONE },
	{ "cpuThrottledTime", "CPU Throttled Time", JFR_LONG, JFR_UNIT_NS },
};

static const struct jfr_field container_memory_usage[] = {
	{ "memoryFailCount", "Memory Fail Count", JFR_LONG, JFR_UNIT_NONE },
	{ "memoryUsage", "Memory Usage", JFR_LONG, JFR_UNIT_BYTES },
	{ "swapMemoryUsage", "Memory and Swap Usage", JFR_LONG, JFR_UNIT_BYTES },
};

static const struct jfr_field initial_system_property[] = {
	{ "key", "Key", JFR_STRING, JFR_UNIT_NONE },
	{ "value", "Value", JFR_STRING, JFR_UNIT_NONE },
};

static const struct jfr_field active_recording[] = {
	{ "id", "Id", JFR_LONG, JFR_UNIT_NONE },
	{ "name", "Name", JFR_STRING, JFR_UNIT_NONE },
	{ "destination", "Destination", JFR_STRING, JFR_UNIT_NONE },
	{ "disk", "To Disk", JFR_BOOLEAN, JFR_UNIT_NONE },
	{ "maxAge", "Max Age", JFR_LONG, JFR_UNIT_MS },
	{ "flushInterval", "Flush Interval", JFR_LONG, JFR_UNIT_MS },
	{ "maxSize", "Max Size", JFR_LONG, JFR_UNIT_BYTES },
	{ "recordingStart", "Start Time", JFR_LONG, JFR_UNIT_MS_AT },
	{ "recordingDuration", "Recording Duration", JFR_LONG, JFR_UNIT_MS },
};

static const struct jfr_field active_setting[] = {
	{ "id", "Event Id", JFR_LONG, JFR_UNIT_NONE },
	{ "name", "Setting Name", JFR_STRING, JFR_UNIT_NONE },
	{ "value", "Setting Value", JFR_STRING, JFR_UNIT_NONE },
};

static const struct jfr_field data_loss[] = {
	{ "amount", "Amount", JFR_LONG, JFR_UNIT_BYTES },
	{ "total", "Total", JFR_LONG, JFR_UNIT_BYTES },
};

static const struct jfr_field file_read[] = {
	{ "path", NULL, JFR_STRING, JFR_UNIT_NONE },
	{ "bytesRead", NULL, JFR_LONG, JFR_UNIT_BYTES },
	{ "endOfFile", NULL, JFR_BOOLEAN, JFR_UNIT_NONE },
};

static const struct jfr_field file_write[] = {
	{ "path", NULL, JFR_STRING, JFR_UNIT_NONE },
	{ "bytesWritten", NULL, JFR_LONG, JFR_UNIT_BYTES },
};

static const struct jfr_field socket_read[] = {
	{ "host", NULL, JFR_STRING, JFR_UNIT_NONE },
	{ "address", NULL, JFR_STRING, JFR_UNIT_NONE },
	{ "port", NULL, JFR_INT, JFR_UNIT_NONE },
	{ "timeout", NULL, JFR_LONG, JFR_UNIT_MS },
	{ "bytesRead", NULL, JFR_LONG, JFR_UNIT_BYTES },
	{ "endOfStream", NULL, JFR_BOOLEAN, JFR_UNIT_NONE },
};

static const struct jfr_field socket_write[] = {
	{ "host", NULL, JFR_STRING, JFR_UNIT_NONE },
	{ "address", NULL, JFR_STRING, JFR_UNIT_NONE },
	{ "port", NULL, JFR_INT, JFR_UNIT_NONE },
	{ "bytesWritten", NULL, JFR_LONG, JFR_UNIT_BYTES },
};

static const struct jfr_field file_force[] = {
	{ "path", NULL, JFR_STRING, JFR_UNIT_NONE },
	{ "metaData", NULL, JFR_BOOLEAN, JFR_UNIT_NONE },
};

const struct jfr_type jfr_jdk_events[JFR_JDK_EVENT_NR] = {
	[JFR_EXECUTION_SAMPLE -
	 JFR_JDK_EVENT_FIRST] = { "jdk.ExecutionSample", "Java Execution Sample",
				  "Java Virtual Machine/Profiling", 0, FIELDS(execution_sample) },
	[JFR_NATIVE_METHOD_SAMPLE - JFR_JDK_EVENT_FIRST] = { "jdk.NativeMethodSample",
							     "Native Sample",
							     "Java Virtual Machine/Profiling", 0,
							     FIELDS(native_method_sample) },
	[JFR_CPU_TIME_SAMPLE - JFR_JDK_EVENT_FIRST] = { "jdk.CPUTimeSample", "CPU Time Sample",
							"Java Virtual Machine/Profiling", 0,
							FIELDS(cpu_time_sample) },
	[JFR_OBJECT_ALLOCATION_IN_NEW_TLAB -
		JFR_JDK_EVENT_FIRST] = { "jdk.ObjectAllocationInNewTLAB", "Allocation in new TLAB",
					 "Java Application", JFR_EVENT_THREAD | JFR_EVENT_STACK,
					 FIELDS(object_allocation_in_new_tlab) },
	[JFR_OBJECT_ALLOCATION_OUTSIDE_TLAB -
		JFR_JDK_EVENT_FIRST] = { "jdk.ObjectAllocationOutsideTLAB",
					 "Allocation outside TLAB", "Java Application",
					 JFR_EVENT_THREAD | JFR_EVENT_STACK,
					 FIELDS(object_allocation_outside_tlab) },
	[JFR_OBJECT_ALLOCATION_SAMPLE -
		JFR_JDK_EVENT_FIRST] = { "jdk.ObjectAllocationSample", "Object Allocation Sample",
					 "Java Application", JFR_EVENT_THREAD | JFR_EVENT_STACK,
					 FIELDS(object_allocation_sample) },
	[JFR_CPU_LOAD - JFR_JDK_EVENT_FIRST] = { "jdk.CPULoad", "CPU Load",
						 "Operating System/Processor", 0,
						 FIELDS(cpu_load) },
	[JFR_THREAD_CPU_LOAD - JFR_JDK_EVENT_FIRST] = { "jdk.ThreadCPULoad", "Thread CPU Load",
							"Operating System/Processor",
							JFR_EVENT_THREAD, FIELDS(thread_cpu_load) },
	[JFR_THREAD_CONTEXT_SWITCH_RATE -
		JFR_JDK_EVENT_FIRST] = { "jdk.ThreadContextSwitchRate",
					 "Thread Context Switch Rate", "Operating System/Processor",
					 0, FIELDS(thread_context_switch_rate) },
	[JFR_JAVA_THREAD_STATISTICS - JFR_JDK_EVENT_FIRST] = { "jdk.JavaThreadStatistics",
							       "Java Thread Statistics",
							       "Java Application/Statistics", 0,
							       FIELDS(java_thread_statistics) },
	[JFR_THREAD_START -
		JFR_JDK_EVENT_FIRST] = { "jdk.ThreadStart", "Java Thread Start", "Java Application",
					 JFR_EVENT_THREAD | JFR_EVENT_STACK, FIELDS(thread_start) },
	[JFR_THREAD_END - JFR_JDK_EVENT_FIRST] = { "jdk.ThreadEnd", "Java Thread End",
						   "Java Application", JFR_EVENT_THREAD,
						   FIELDS(thread_end) },
	[JFR_JAVA_MONITOR_ENTER -
		JFR_JDK_EVENT_FIRST] = { "jdk.JavaMonitorEnter", "Java Monitor Blocked",
					 "Java Application",
					 JFR_DURATION | JFR_EVENT_THREAD | JFR_EVENT_STACK,
					 FIELDS(java_monitor_enter) },
	[JFR_JAVA_MONITOR_WAIT -
		JFR_JDK_EVENT_FIRST] = { "jdk.JavaMonitorWait", "Java Monitor Wait",
					 "Java Application",
					 JFR_DURATION | JFR_EVENT_THREAD | JFR_EVENT_STACK,
					 FIELDS(java_monitor_wait) },
	[JFR_THREAD_PARK -
		JFR_JDK_EVENT_FIRST] = { "jdk.ThreadPark", "Java Thread Park", "Java Application",
					 JFR_DURATION | JFR_EVENT_THREAD | JFR_EVENT_STACK,
					 FIELDS(thread_park) },
	[JFR_THREAD_SLEEP -
		JFR_JDK_EVENT_FIRST] = { "jdk.ThreadSleep", "Java Thread Sleep", "Java Application",
					 JFR_DURATION | JFR_EVENT_THREAD | JFR_EVENT_STACK,
					 FIELDS(thread_sleep) },
	[JFR_COMPILATION - JFR_JDK_EVENT_FIRST] = { "jdk.Compilation", "Compilation",
						    "Java Virtual Machine/Compiler",
						    JFR_DURATION | JFR_EVENT_THREAD,
						    FIELDS(compilation) },
	[JFR_COMPILER_PHASE - JFR_JDK_EVENT_FIRST] = { "jdk.CompilerPhase", "Compiler Phase",
						       "Java Virtual Machine/Compiler",
						       JFR_DURATION | JFR_EVENT_THREAD,
						       FIELDS(compiler_phase) },
	[JFR_DEOPTIMIZATION - JFR_JDK_EVENT_FIRST] = { "jdk.Deoptimization", "Deoptimization",
						       "Java Virtual Machine/Compiler",
						       JFR_EVENT_THREAD | JFR_EVENT_STACK,
						       FIELDS(deoptimization) },
	[JFR_JAVA_EXCEPTION_THROW - JFR_JDK_EVENT_FIRST] = { "jdk.JavaExceptionThrow",
							     "Java Exception", "Java Application",
							     JFR_EVENT_THREAD | JFR_EVENT_STACK,
							     FIELDS(java_exception_throw) },
	[JFR_JAVA_ERROR_THROW - JFR_JDK_EVENT_FIRST] = { "jdk.JavaErrorThrow", "Java Error",
							 "Java Application",
							 JFR_EVENT_THREAD | JFR_EVENT_STACK,
							 FIELDS(java_error_throw) },
	[JFR_EXCEPTION_STATISTICS - JFR_JDK_EVENT_FIRST] = { "jdk.ExceptionStatistics",
							     "Exception Statistics",
							     "Java Application/Statistics", 0,
							     FIELDS(exception_statistics) },
	[JFR_CLASS_LOAD -
		JFR_JDK_EVENT_FIRST] = { "jdk.ClassLoad", "Class Load",
					 "Java Virtual Machine/Class Loading",
					 JFR_DURATION | JFR_EVENT_THREAD | JFR_EVENT_STACK,
					 FIELDS(class_load) },
	[JFR_CLASS_DEFINE - JFR_JDK_EVENT_FIRST] = { "jdk.ClassDefine", "Class Define",
						     "Java Virtual Machine/Class Loading",
						     JFR_EVENT_THREAD | JFR_EVENT_STACK,
						     FIELDS(class_define) },
	[JFR_CLASS_UNLOAD - JFR_JDK_EVENT_FIRST] = { "jdk.ClassUnload", "Class Unload",
						     "Java Virtual Machine/Class Loading",
						     JFR_EVENT_THREAD, FIELDS(class_unload) },
	[JFR_CLASS_LOADING_STATISTICS - JFR_JDK_EVENT_FIRST] = { "jdk.ClassLoadingStatistics",
								 "Class Loading Statistics",
								 "Java Application/Statistics", 0,
								 FIELDS(class_loading_statistics) },
	[JFR_CLASS_LOADER_STATISTICS - JFR_JDK_EVENT_FIRST] = { "jdk.ClassLoaderStatistics",
								"Class Loader Statistics",
								"Java Application/Statistics", 0,
								FIELDS(class_loader_statistics) },
	[JFR_GC_CONFIGURATION - JFR_JDK_EVENT_FIRST] = { "jdk.GCConfiguration", "GC Configuration",
							 "Java Virtual Machine/GC/Configuration", 0,
							 FIELDS(gc_configuration) },
	[JFR_GC_HEAP_CONFIGURATION -
		JFR_JDK_EVENT_FIRST] = { "jdk.GCHeapConfiguration", "GC Heap Configuration",
					 "Java Virtual Machine/GC/Configuration", 0,
					 FIELDS(gc_heap_configuration) },
	[JFR_SYSTEM_GC - JFR_JDK_EVENT_FIRST] = { "jdk.SystemGC", "System GC",
						  "Java Virtual Machine/GC/Collector",
						  JFR_DURATION | JFR_EVENT_THREAD | JFR_EVENT_STACK,
						  FIELDS(system_gc) },
	[JFR_NATIVE_MEMORY_USAGE - JFR_JDK_EVENT_FIRST] = { "jdk.NativeMemoryUsage",
							    "Native Memory Usage Per Type",
							    "Java Virtual Machine/Memory", 0,
							    FIELDS(native_memory_usage) },
	[JFR_NATIVE_MEMORY_USAGE_TOTAL -
		JFR_JDK_EVENT_FIRST] = { "jdk.NativeMemoryUsageTotal", "Total Native Memory Usage",
					 "Java Virtual Machine/Memory", 0,
					 FIELDS(native_memory_usage_total) },
	[JFR_RESIDENT_SET_SIZE - JFR_JDK_EVENT_FIRST] = { "jdk.ResidentSetSize",
							  "Resident Set Size",
							  "Java Virtual Machine/Memory", 0,
							  FIELDS(resident_set_size) },
	[JFR_PHYSICAL_MEMORY - JFR_JDK_EVENT_FIRST] = { "jdk.PhysicalMemory", "Physical Memory",
							"Operating System/Memory", 0,
							FIELDS(physical_memory) },
	[JFR_NATIVE_LIBRARY - JFR_JDK_EVENT_FIRST] = { "jdk.NativeLibrary", "Native Library",
						       "Java Virtual Machine/Runtime", 0,
						       FIELDS(native_library) },
	[JFR_JVM_INFORMATION - JFR_JDK_EVENT_FIRST] = { "jdk.JVMInformation", "JVM Information",
							"Java Virtual Machine", 0,
							FIELDS(jvm_information) },
	[JFR_OS_INFORMATION - JFR_JDK_EVENT_FIRST] = { "jdk.OSInformation", "OS Information",
						       "Operating System", 0,
						       FIELDS(os_information) },
	[JFR_CPU_INFORMATION - JFR_JDK_EVENT_FIRST] = { "jdk.CPUInformation", "CPU Information",
							"Operating System/Processor", 0,
							FIELDS(cpu_information) },
	[JFR_VIRTUALIZATION_INFORMATION -
		JFR_JDK_EVENT_FIRST] = { "jdk.VirtualizationInformation",
					 "Virtualization Information", "Operating System", 0,
					 FIELDS(virtualization_information) },
	[JFR_CONTAINER_CONFIGURATION -
		JFR_JDK_EVENT_FIRST] = { "jdk.ContainerConfiguration", "Container Configuration",
					 "Operating System", 0, FIELDS(container_configuration) },
	[JFR_CONTAINER_CPU_USAGE - JFR_JDK_EVENT_FIRST] = { "jdk.ContainerCPUUsage", "CPU Usage",
							    "Operating System/Processor", 0,
							    FIELDS(container_cpu_usage) },
	[JFR_CONTAINER_CPU_THROTTLING - JFR_JDK_EVENT_FIRST] = { "jdk.ContainerCPUThrottling",
								 "CPU Throttling",
								 "Operating System/Processor", 0,
								 FIELDS(container_cpu_throttling) },
	[JFR_CONTAINER_MEMORY_USAGE - JFR_JDK_EVENT_FIRST] = { "jdk.ContainerMemoryUsage",
							       "Container Memory Usage",
							       "Operating System/Memory", 0,
							       FIELDS(container_memory_usage) },
	[JFR_INITIAL_SYSTEM_PROPERTY - JFR_JDK_EVENT_FIRST] = { "jdk.InitialSystemProperty",
								"Initial System Property",
								"Java Virtual Machine", 0,
								FIELDS(initial_system_property) },
	[JFR_ACTIVE_RECORDING - JFR_JDK_EVENT_FIRST] = { "jdk.ActiveRecording", "Flight Recording",
							 "Flight Recorder", 0,
							 FIELDS(active_recording) },
	[JFR_ACTIVE_SETTING - JFR_JDK_EVENT_FIRST] = { "jdk.ActiveSetting", "Recording Setting",
						       "Flight Recorder", 0,
						       FIELDS(active_setting) },
	[JFR_DATA_LOSS - JFR_JDK_EVENT_FIRST] = { "jdk.DataLoss", "Data Loss", "Flight Recorder", 0,
						  FIELDS(data_loss) },
	[JFR_FILE_READ - JFR_JDK_EVENT_FIRST] = { "jdk.FileRead", "File Read", "Java Application",
						  JFR_DURATION | JFR_EVENT_THREAD | JFR_EVENT_STACK,
						  FIELDS(file_read) },
	[JFR_FILE_WRITE -
		JFR_JDK_EVENT_FIRST] = { "jdk.FileWrite", "File Write", "Java Application",
					 JFR_DURATION | JFR_EVENT_THREAD | JFR_EVENT_STACK,
					 FIELDS(file_write) },
	[JFR_FILE_FORCE -
		JFR_JDK_EVENT_FIRST] = { "jdk.FileForce", "File Force", "Java Application",
					 JFR_DURATION | JFR_EVENT_THREAD | JFR_EVENT_STACK,
					 FIELDS(file_force) },
	[JFR_SOCKET_READ -
		JFR_JDK_EVENT_FIRST] = { "jdk.SocketRead", "Socket Read", "Java Application",
					 JFR_DURATION | JFR_EVENT_THREAD | JFR_EVENT_STACK,
					 FIELDS(socket_read) },
	[JFR_SOCKET_WRITE -
		JFR_JDK_EVENT_FIRST] = { "jdk.SocketWrite", "Socket Write", "Java Application",
					 JFR_DURATION | JFR_EVENT_THREAD | JFR_EVENT_STACK,
					 FIELDS(socket_write) },
};
