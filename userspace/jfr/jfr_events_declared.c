/* SPDX-License-Identifier: Apache-2.0 */
#include "jfr/jfr_events_impl.h"

/*
 * Events of the JDK that are declared and never written: the views of "jfr view" name them, and
 * fail when a name is unknown. Labels of fields would be seen by nobody.
 */

static const struct jfr_field allocation_requiring_gc[] = {
	{ "gcId", NULL, JFR_INT, JFR_UNIT_UNSIGNED },
	{ "size", NULL, JFR_LONG, JFR_UNIT_BYTES },
};

static const struct jfr_field boolean_flag_changed[] = {
	{ "name", NULL, JFR_STRING, JFR_UNIT_NONE },
	{ "oldValue", NULL, JFR_BOOLEAN, JFR_UNIT_NONE },
	{ "newValue", NULL, JFR_BOOLEAN, JFR_UNIT_NONE },
	{ "origin", NULL, JFR_FLAG_VALUE_ORIGIN, JFR_UNIT_NONE },
};

static const struct jfr_field cpu_time_samples_lost[] = {
	{ "lostSamples", NULL, JFR_INT, JFR_UNIT_NONE },
	{ "eventThread", NULL, JFR_THREAD, JFR_UNIT_NONE },
};

static const struct jfr_field cpu_time_stamp_counter[] = {
	{ "fastTimeEnabled", NULL, JFR_BOOLEAN, JFR_UNIT_NONE },
	{ "fastTimeAutoEnabled", NULL, JFR_BOOLEAN, JFR_UNIT_NONE },
	{ "osFrequency", NULL, JFR_LONG, JFR_UNIT_HZ },
	{ "fastTimeFrequency", NULL, JFR_LONG, JFR_UNIT_HZ },
};

static const struct jfr_field container_io_usage[] = {
	{ "serviceRequests", NULL, JFR_LONG, JFR_UNIT_NONE },
	{ "dataTransferred", NULL, JFR_LONG, JFR_UNIT_BYTES },
};

static const struct jfr_field deprecated_invocation[] = {
	{ "method", NULL, JFR_METHOD, JFR_UNIT_NONE },
	{ "invocationTime", NULL, JFR_LONG, JFR_UNIT_TICKS_AT },
	{ "forRemoval", NULL, JFR_BOOLEAN, JFR_UNIT_NONE },
};

static const struct jfr_field double_flag_changed[] = {
	{ "name", NULL, JFR_STRING, JFR_UNIT_NONE },
	{ "oldValue", NULL, JFR_DOUBLE, JFR_UNIT_NONE },
	{ "newValue", NULL, JFR_DOUBLE, JFR_UNIT_NONE },
	{ "origin", NULL, JFR_FLAG_VALUE_ORIGIN, JFR_UNIT_NONE },
};

static const struct jfr_field finalizer_statistics[] = {
	{ "finalizableClass", NULL, JFR_CLASS, JFR_UNIT_NONE },
	{ "codeSource", NULL, JFR_SYMBOL, JFR_UNIT_NONE },
	{ "objects", NULL, JFR_LONG, JFR_UNIT_UNSIGNED },
	{ "totalFinalizersRun", NULL, JFR_LONG, JFR_UNIT_UNSIGNED },
};

static const struct jfr_field gccpu_time[] = {
	{ "gcId", NULL, JFR_INT, JFR_UNIT_UNSIGNED },
	{ "userTime", NULL, JFR_LONG, JFR_UNIT_NS },
	{ "systemTime", NULL, JFR_LONG, JFR_UNIT_NS },
	{ "realTime", NULL, JFR_LONG, JFR_UNIT_NS },
};

static const struct jfr_field gc_phase_parallel[] = {
	{ "gcId", NULL, JFR_INT, JFR_UNIT_UNSIGNED },
	{ "gcWorkerId", NULL, JFR_INT, JFR_UNIT_UNSIGNED },
	{ "name", NULL, JFR_STRING, JFR_UNIT_NONE },
};

static const struct jfr_field gc_reference_statistics[] = {
	{ "gcId", NULL, JFR_INT, JFR_UNIT_UNSIGNED },
	{ "type", NULL, JFR_REFERENCE_TYPE, JFR_UNIT_NONE },
	{ "count", NULL, JFR_LONG, JFR_UNIT_UNSIGNED },
};

static const struct jfr_field initial_environment_variable[] = {
	{ "key", NULL, JFR_STRING, JFR_UNIT_NONE },
	{ "value", NULL, JFR_STRING, JFR_UNIT_NONE },
};

static const struct jfr_field int_flag_changed[] = {
	{ "name", NULL, JFR_STRING, JFR_UNIT_NONE },
	{ "oldValue", NULL, JFR_INT, JFR_UNIT_NONE },
	{ "newValue", NULL, JFR_INT, JFR_UNIT_NONE },
	{ "origin", NULL, JFR_FLAG_VALUE_ORIGIN, JFR_UNIT_NONE },
};

static const struct jfr_field java_monitor_inflate[] = {
	{ "monitorClass", NULL, JFR_CLASS, JFR_UNIT_NONE },
	{ "address", NULL, JFR_LONG, JFR_UNIT_ADDRESS },
	{ "cause", NULL, JFR_INFLATE_CAUSE, JFR_UNIT_NONE },
};

static const struct jfr_field long_flag_changed[] = {
	{ "name", NULL, JFR_STRING, JFR_UNIT_NONE },
	{ "oldValue", NULL, JFR_LONG, JFR_UNIT_NONE },
	{ "newValue", NULL, JFR_LONG, JFR_UNIT_NONE },
	{ "origin", NULL, JFR_FLAG_VALUE_ORIGIN, JFR_UNIT_NONE },
};

static const struct jfr_field method_timing[] = {
	{ "method", NULL, JFR_METHOD, JFR_UNIT_NONE },
	{ "invocations", NULL, JFR_LONG, JFR_UNIT_NONE },
	{ "minimum", NULL, JFR_LONG, JFR_UNIT_TICKS },
	{ "average", NULL, JFR_LONG, JFR_UNIT_TICKS },
	{ "maximum", NULL, JFR_LONG, JFR_UNIT_TICKS },
};

static const struct jfr_field method_trace[] = {
	{ "method", NULL, JFR_METHOD, JFR_UNIT_NONE },
};

static const struct jfr_field module_require[] = {
	{ "source", NULL, JFR_MODULE, JFR_UNIT_NONE },
	{ "requiredModule", NULL, JFR_MODULE, JFR_UNIT_NONE },
};

static const struct jfr_field native_library_load[] = {
	{ "name", NULL, JFR_STRING, JFR_UNIT_NONE },
	{ "success", NULL, JFR_BOOLEAN, JFR_UNIT_NONE },
	{ "errorMessage", NULL, JFR_STRING, JFR_UNIT_NONE },
	{ "fpuCorrectionAttempt", NULL, JFR_BOOLEAN, JFR_UNIT_NONE },
	{ "fpuCorrectionSuccess", NULL, JFR_BOOLEAN, JFR_UNIT_NONE },
};

static const struct jfr_field native_library_unload[] = {
	{ "name", NULL, JFR_STRING, JFR_UNIT_NONE },
	{ "success", NULL, JFR_BOOLEAN, JFR_UNIT_NONE },
	{ "errorMessage", NULL, JFR_STRING, JFR_UNIT_NONE },
};

static const struct jfr_field network_utilization[] = {
	{ "networkInterface", NULL, JFR_NETWORK_INTERFACE_NAME, JFR_UNIT_NONE },
	{ "readRate", NULL, JFR_LONG, JFR_UNIT_HZ },
	{ "writeRate", NULL, JFR_LONG, JFR_UNIT_HZ },
};

static const struct jfr_field object_count[] = {
	{ "gcId", NULL, JFR_INT, JFR_UNIT_UNSIGNED },
	{ "objectClass", NULL, JFR_CLASS, JFR_UNIT_NONE },
	{ "count", NULL, JFR_LONG, JFR_UNIT_NONE },
	{ "totalSize", NULL, JFR_LONG, JFR_UNIT_BYTES },
};

static const struct jfr_field object_count_after_gc[] = {
	{ "gcId", NULL, JFR_INT, JFR_UNIT_UNSIGNED },
	{ "objectClass", NULL, JFR_CLASS, JFR_UNIT_NONE },
	{ "count", NULL, JFR_LONG, JFR_UNIT_NONE },
	{ "totalSize", NULL, JFR_LONG, JFR_UNIT_BYTES },
};

static const struct jfr_field old_object_sample[] = {
	{ "allocationTime", NULL, JFR_LONG, JFR_UNIT_TICKS_AT },
	{ "objectSize", NULL, JFR_LONG, JFR_UNIT_BYTES },
	{ "objectAge", NULL, JFR_LONG, JFR_UNIT_TICKS },
	{ "lastKnownHeapUsage", NULL, JFR_LONG, JFR_UNIT_BYTES },
	{ "object", NULL, JFR_OLD_OBJECT, JFR_UNIT_NONE },
	{ "arrayElements", NULL, JFR_INT, JFR_UNIT_NONE },
	{ "root", NULL, JFR_OLD_OBJECT_GC_ROOT, JFR_UNIT_NONE },
};

static const struct jfr_field redefine_classes[] = {
	{ "classCount", NULL, JFR_INT, JFR_UNIT_NONE },
	{ "redefinitionId", NULL, JFR_LONG, JFR_UNIT_UNSIGNED },
};

static const struct jfr_field retransform_classes[] = {
	{ "classCount", NULL, JFR_INT, JFR_UNIT_NONE },
	{ "redefinitionId", NULL, JFR_LONG, JFR_UNIT_UNSIGNED },
};

static const struct jfr_field shutdown[] = {
	{ "reason", NULL, JFR_STRING, JFR_UNIT_NONE },
};

static const struct jfr_field string_flag_changed[] = {
	{ "name", NULL, JFR_STRING, JFR_UNIT_NONE },
	{ "oldValue", NULL, JFR_STRING, JFR_UNIT_NONE },
	{ "newValue", NULL, JFR_STRING, JFR_UNIT_NONE },
	{ "origin", NULL, JFR_FLAG_VALUE_ORIGIN, JFR_UNIT_NONE },
};

static const struct jfr_field system_process[] = {
	{ "pid", NULL, JFR_STRING, JFR_UNIT_NONE },
	{ "commandLine", NULL, JFR_STRING, JFR_UNIT_NONE },
};

static const struct jfr_field thread_allocation_statistics[] = {
	{ "allocated", NULL, JFR_LONG, JFR_UNIT_BYTES },
	{ "thread", NULL, JFR_THREAD, JFR_UNIT_NONE },
};

static const struct jfr_field unsigned_int_flag_changed[] = {
	{ "name", NULL, JFR_STRING, JFR_UNIT_NONE },
	{ "oldValue", NULL, JFR_INT, JFR_UNIT_UNSIGNED },
	{ "newValue", NULL, JFR_INT, JFR_UNIT_UNSIGNED },
	{ "origin", NULL, JFR_FLAG_VALUE_ORIGIN, JFR_UNIT_NONE },
};

static const struct jfr_field unsigned_long_flag_changed[] = {
	{ "name", NULL, JFR_STRING, JFR_UNIT_NONE },
	{ "oldValue", NULL, JFR_LONG, JFR_UNIT_UNSIGNED },
	{ "newValue", NULL, JFR_LONG, JFR_UNIT_UNSIGNED },
	{ "origin", NULL, JFR_FLAG_VALUE_ORIGIN, JFR_UNIT_NONE },
};

static const struct jfr_field virtual_thread_pinned[] = {
	{ "blockingOperation", NULL, JFR_STRING, JFR_UNIT_NONE },
	{ "pinnedReason", NULL, JFR_STRING, JFR_UNIT_NONE },
	{ "carrierThread", NULL, JFR_THREAD, JFR_UNIT_NONE },
};

const struct jfr_type jfr_declared_events[JFR_DECLARED_NR] = {
	{ "jdk.AllocationRequiringGC", "Allocation Requiring GC",
	  "Java Virtual Machine/GC/Detailed", JFR_EVENT_THREAD | JFR_EVENT_STACK,
	  FIELDS(allocation_requiring_gc) },
	{ "jdk.BooleanFlagChanged", "Boolean Flag Changed", "Java Virtual Machine/Flag", 0,
	  FIELDS(boolean_flag_changed) },
	{ "jdk.CPUTimeSamplesLost", "CPU Time Samples Lost", "Java Virtual Machine/Profiling", 0,
	  FIELDS(cpu_time_samples_lost) },
	{ "jdk.CPUTimeStampCounter", "CPU Time Stamp Counter", "Operating System/Processor", 0,
	  FIELDS(cpu_time_stamp_counter) },
	{ "jdk.ContainerIOUsage", "Container IO Usage", "Operating System/File System", 0,
	  FIELDS(container_io_usage) },
	{ "jdk.DeprecatedInvocation", "Deprecated Method Invocation", "Java Application/Statistics",
	  JFR_EVENT_STACK, FIELDS(deprecated_invocation) },
	{ "jdk.DoubleFlagChanged", "Double Flag Changed", "Java Virtual Machine/Flag", 0,
	  FIELDS(double_flag_changed) },
	{ "jdk.FinalizerStatistics", "Finalizer Statistics", "Java Application/Statistics", 0,
	  FIELDS(finalizer_statistics) },
	{ "jdk.GCCPUTime", "GC CPU Time", "Java Virtual Machine/GC/Detailed", 0,
	  FIELDS(gccpu_time) },
	{ "jdk.GCPhaseParallel", "GC Phase Parallel", "Java Virtual Machine/GC/Phases",
	  JFR_DURATION | JFR_EVENT_THREAD, FIELDS(gc_phase_parallel) },
	{ "jdk.GCReferenceStatistics", "GC Reference Statistics",
	  "Java Virtual Machine/GC/Reference", 0, FIELDS(gc_reference_statistics) },
	{ "jdk.InitialEnvironmentVariable", "Initial Environment Variable", "Operating System", 0,
	  FIELDS(initial_environment_variable) },
	{ "jdk.IntFlagChanged", "Int Flag Changed", "Java Virtual Machine/Flag", 0,
	  FIELDS(int_flag_changed) },
	{ "jdk.JavaMonitorInflate", "Java Monitor Inflated", "Java Application",
	  JFR_DURATION | JFR_EVENT_THREAD | JFR_EVENT_STACK, FIELDS(java_monitor_inflate) },
	{ "jdk.LongFlagChanged", "Long Flag Changed", "Java Virtual Machine/Flag", 0,
	  FIELDS(long_flag_changed) },
	{ "jdk.MethodTiming", "Method Timing", "Java Virtual Machine/Method Tracing", 0,
	  FIELDS(method_timing) },
	{ "jdk.MethodTrace", "Method Trace", "Java Virtual Machine/Method Tracing",
	  JFR_DURATION | JFR_EVENT_THREAD | JFR_EVENT_STACK, FIELDS(method_trace) },
	{ "jdk.ModuleRequire", "Module Require", "Java Virtual Machine/Runtime/Modules", 0,
	  FIELDS(module_require) },
	{ "jdk.NativeLibraryLoad", "Native Library Load", "Java Virtual Machine/Runtime",
	  JFR_DURATION | JFR_EVENT_THREAD | JFR_EVENT_STACK, FIELDS(native_library_load) },
	{ "jdk.NativeLibraryUnload", "Native Library Unload", "Java Virtual Machine/Runtime",
	  JFR_DURATION | JFR_EVENT_THREAD | JFR_EVENT_STACK, FIELDS(native_library_unload) },
	{ "jdk.NetworkUtilization", "Network Utilization", "Operating System/Network", 0,
	  FIELDS(network_utilization) },
	{ "jdk.ObjectCount", "Object Count", "Java Virtual Machine/GC/Detailed", 0,
	  FIELDS(object_count) },
	{ "jdk.ObjectCountAfterGC", "Object Count after GC", "Java Virtual Machine/GC/Detailed", 0,
	  FIELDS(object_count_after_gc) },
	{ "jdk.OldObjectSample", "Old Object Sample", "Java Virtual Machine/Profiling",
	  JFR_DURATION | JFR_EVENT_THREAD | JFR_EVENT_STACK, FIELDS(old_object_sample) },
	{ "jdk.RedefineClasses", "Redefine Classes", "Java Virtual Machine/Class Loading",
	  JFR_DURATION | JFR_EVENT_THREAD | JFR_EVENT_STACK, FIELDS(redefine_classes) },
	{ "jdk.RetransformClasses", "Retransform Classes", "Java Virtual Machine/Class Loading",
	  JFR_DURATION | JFR_EVENT_THREAD | JFR_EVENT_STACK, FIELDS(retransform_classes) },
	{ "jdk.Shutdown", "JVM Shutdown", "Java Virtual Machine/Runtime",
	  JFR_EVENT_THREAD | JFR_EVENT_STACK, FIELDS(shutdown) },
	{ "jdk.StringFlagChanged", "String Flag Changed", "Java Virtual Machine/Flag", 0,
	  FIELDS(string_flag_changed) },
	{ "jdk.SystemProcess", "System Process", "Operating System", 0, FIELDS(system_process) },
	{ "jdk.ThreadAllocationStatistics", "Thread Allocation Statistics",
	  "Java Application/Statistics", 0, FIELDS(thread_allocation_statistics) },
	{ "jdk.UnsignedIntFlagChanged", "Unsigned Int Flag Changed", "Java Virtual Machine/Flag", 0,
	  FIELDS(unsigned_int_flag_changed) },
	{ "jdk.UnsignedLongFlagChanged", "Unsigned Long Flag Changed", "Java Virtual Machine/Flag",
	  0, FIELDS(unsigned_long_flag_changed) },
	{ "jdk.VirtualThreadPinned", "Virtual Thread Pinned", "Java Application",
	  JFR_DURATION | JFR_EVENT_THREAD | JFR_EVENT_STACK, FIELDS(virtual_thread_pinned) },
};
