/* SPDX-License-Identifier: Apache-2.0 */
#include "jfr/jfr_events_impl.h"

/*
 * profiler.*: as async-profiler writes them, field by field, since its converter reads them by
 * position. jvmscope.*: what no other tool has an event for. Behind them those of the JDK that it
 * has since 22.
 */

static const struct jfr_field wall_clock_sample[] = {
	{ "sampledThread", "Thread", JFR_THREAD, JFR_UNIT_NONE },
	{ "stackTrace", "Stack Trace", JFR_STACK_TRACE, JFR_UNIT_NONE },
	{ "state", "Thread State", JFR_THREAD_STATE, JFR_UNIT_NONE },
	{ "samples", "Samples", JFR_INT, JFR_UNIT_UNSIGNED },
	{ "timeSpan", "Time Span", JFR_LONG, JFR_UNIT_TICKS },
};

static const struct jfr_field malloc_fields[] = {
	{ "address", "Address", JFR_LONG, JFR_UNIT_ADDRESS },
	{ "size", "Size", JFR_LONG, JFR_UNIT_BYTES },
};

static const struct jfr_field free_fields[] = {
	{ "address", "Address", JFR_LONG, JFR_UNIT_ADDRESS },
};

/* struct rec_total of native memory: what was added since the chunk before, and what lives. */
static const struct jfr_field native_allocation[] = {
	{ "tag", "Tag", JFR_STRING, JFR_UNIT_NONE },
	{ "pid", "Process Id", JFR_LONG, JFR_UNIT_NONE },
	{ "count", "Count", JFR_LONG, JFR_UNIT_UNSIGNED },
	{ "size", "Size", JFR_LONG, JFR_UNIT_BYTES },
	{ "liveCount", "Live Count", JFR_LONG, JFR_UNIT_UNSIGNED },
	{ "liveSize", "Live Size", JFR_LONG, JFR_UNIT_BYTES },
};

/* The same of what the VM has mapped. */
static const struct jfr_field native_mapping[] = {
	{ "use", "Use", JFR_STRING, JFR_UNIT_NONE },
	{ "tag", "Tag", JFR_STRING, JFR_UNIT_NONE },
	{ "pid", "Process Id", JFR_LONG, JFR_UNIT_NONE },
	{ "count", "Count", JFR_LONG, JFR_UNIT_UNSIGNED },
	{ "size", "Size", JFR_LONG, JFR_UNIT_BYTES },
};

/* struct rec_meta. Numbers are of the whole recording until the end of the chunk. */
static const struct jfr_field recording[] = {
	{ "toolVersion", "Version", JFR_STRING, JFR_UNIT_NONE },
	{ "hostName", "Host", JFR_STRING, JFR_UNIT_NONE },
	{ "kernelRelease", "Kernel", JFR_STRING, JFR_UNIT_NONE },
	{ "machine", "Machine", JFR_STRING, JFR_UNIT_NONE },
	{ "clock", "Sampling Clock", JFR_STRING, JFR_UNIT_NONE },
	{ "events", "Recorded Events", JFR_STRING, JFR_UNIT_NONE },
	{ "recordingStart", "Start in ns since the Epoch", JFR_LONG, JFR_UNIT_NONE },
	{ "recordingEnd", "End in ns since the Epoch", JFR_LONG, JFR_UNIT_NONE },
	{ "frequency", "Sampling Frequency", JFR_LONG, JFR_UNIT_HZ },
	{ "samplePeriod", "Time of One Sample", JFR_LONG, JFR_UNIT_NS },
	{ "maxDepth", "Stack Frames Kept", JFR_LONG, JFR_UNIT_UNSIGNED },
	{ "cpus", "CPUs Sampled", JFR_LONG, JFR_UNIT_UNSIGNED },
	{ "seen", "Samples Seen", JFR_LONG, JFR_UNIT_UNSIGNED },
	{ "targetCpuTime", "CPU Time of the JVMs", JFR_LONG, JFR_UNIT_NS },
	{ "ownCpuTime", "CPU Time of the Recorder", JFR_LONG, JFR_UNIT_NS },
	{ "bpfTime", "Time in BPF Programs", JFR_LONG, JFR_UNIT_NS },
	{ "ownResidentSize", "Resident Size of the Recorder", JFR_LONG, JFR_UNIT_BYTES },
	{ "ownMapSize", "Size of the BPF Maps", JFR_LONG, JFR_UNIT_BYTES },
	{ "achievedFrequency", "Achieved Frequency", JFR_DOUBLE, JFR_UNIT_HZ },
};

/* struct rec_jvm, in full. */
static const struct jfr_field jvm[] = {
	{ "pid", "Process Id", JFR_LONG, JFR_UNIT_NONE },
	{ "containerPid", "Process Id in Container", JFR_LONG, JFR_UNIT_NONE },
	{ "majorVersion", "Major Version", JFR_INT, JFR_UNIT_NONE },
	{ "jvmStart", "JVM Start in ns since the Epoch", JFR_LONG, JFR_UNIT_NONE },
	{ "version", "Version", JFR_STRING, JFR_UNIT_NONE },
	{ "gcName", "Garbage Collector", JFR_STRING, JFR_UNIT_NONE },
	{ "mainClass", "Main Class", JFR_STRING, JFR_UNIT_NONE },
	{ "arguments", "Arguments", JFR_STRING, JFR_UNIT_NONE },
	{ "containerId", "Container Id", JFR_STRING, JFR_UNIT_NONE },
	{ "podUid", "Pod UID", JFR_STRING, JFR_UNIT_NONE },
};

/* struct rec_thread: what was added since the chunk before. */
static const struct jfr_field thread_time[] = {
	{ "cpuTime", "CPU Time", JFR_LONG, JFR_UNIT_NS },
	{ "inJava", "In Java", JFR_LONG, JFR_UNIT_NS },
	{ "inNative", "In Native", JFR_LONG, JFR_UNIT_NS },
	{ "inVM", "In VM", JFR_LONG, JFR_UNIT_NS },
	{ "blocked", "Blocked", JFR_LONG, JFR_UNIT_NS },
	{ "vmThread", "As VM Thread", JFR_LONG, JFR_UNIT_NS },
	{ "unknown", "Unknown", JFR_LONG, JFR_UNIT_NS },
};

/* struct rec_quality_row: what was added since the chunk before. */
static const struct jfr_field quality[] = {
	{ "group", "Group", JFR_STRING, JFR_UNIT_NONE },
	{ "name", "Name", JFR_STRING, JFR_UNIT_NONE },
	{ "count", "Count", JFR_LONG, JFR_UNIT_NONE },
};

/* struct rec_filter. Samples of the CPU, by their innermost Java frame. */
static const struct jfr_field filter[] = {
	{ "mode", "Mode", JFR_STRING, JFR_UNIT_NONE },
	{ "rules", "Rules From", JFR_STRING, JFR_UNIT_NONE },
	{ "application", "Samples in Application Code", JFR_LONG, JFR_UNIT_UNSIGNED },
	{ "library", "Samples in Library Code", JFR_LONG, JFR_UNIT_UNSIGNED },
	{ "noJava", "Samples without Java", JFR_LONG, JFR_UNIT_UNSIGNED },
	{ "withApplication", "Samples with Application Code", JFR_LONG, JFR_UNIT_UNSIGNED },
	{ "dropped", "Samples Dropped", JFR_LONG, JFR_UNIT_UNSIGNED },
	{ "noRuleFrames", "Frames without Rule", JFR_LONG, JFR_UNIT_UNSIGNED },
	{ "noRuleClasses", "Classes without Rule", JFR_LONG, JFR_UNIT_UNSIGNED },
};

/* struct rec_rule. */
static const struct jfr_field filter_rule[] = {
	{ "number", "Number", JFR_LONG, JFR_UNIT_UNSIGNED },
	{ "rule", "Rule", JFR_STRING, JFR_UNIT_NONE },
	{ "frames", "Frames", JFR_LONG, JFR_UNIT_UNSIGNED },
	{ "classes", "Classes", JFR_LONG, JFR_UNIT_UNSIGNED },
};

/* struct rec_class: what jdk.ClassLoad has no fields for. */
static const struct jfr_field class_file[] = {
	{ "definedClass", "Class", JFR_CLASS, JFR_UNIT_NONE },
	{ "definingClassLoader", "Defining Class Loader", JFR_CLASS_LOADER, JFR_UNIT_NONE },
	{ "source", "Source", JFR_STRING, JFR_UNIT_NONE },
	{ "archived", "From the CDS Archive", JFR_BOOLEAN, JFR_UNIT_NONE },
	{ "redefined", "Redefinition", JFR_BOOLEAN, JFR_UNIT_NONE },
	{ "transformed", "Changed by an Agent", JFR_BOOLEAN, JFR_UNIT_NONE },
	{ "bytes", "Size", JFR_LONG, JFR_UNIT_BYTES },
	{ "bytesAfter", "Size after Agents", JFR_LONG, JFR_UNIT_BYTES },
	{ "read", "Time to Read", JFR_LONG, JFR_UNIT_NS },
	{ "parse", "Time to Parse", JFR_LONG, JFR_UNIT_NS },
	{ "transform", "Time in Agents", JFR_LONG, JFR_UNIT_NS },
};

/* What a class takes when it is there, which may be long after it was loaded. */
static const struct jfr_field class_link[] = {
	{ "linkedClass", "Class", JFR_CLASS, JFR_UNIT_NONE },
	{ "definingClassLoader", "Defining Class Loader", JFR_CLASS_LOADER, JFR_UNIT_NONE },
	{ "verify", "Time to Verify", JFR_LONG, JFR_UNIT_NS },
	{ "rewrite", "Time to Rewrite", JFR_LONG, JFR_UNIT_NS },
};

/* struct rec_heap_class, from the start of the recording. */
static const struct jfr_field heap_class[] = {
	{ "objectClass", "Object Class", JFR_CLASS, JFR_UNIT_NONE },
	{ "pid", "Process Id", JFR_LONG, JFR_UNIT_NONE },
	{ "tlabCount", "TLABs Begun", JFR_LONG, JFR_UNIT_UNSIGNED },
	{ "tlabSize", "Size of these TLABs", JFR_LONG, JFR_UNIT_BYTES },
	{ "insideSize", "Allocated in TLABs, Estimate", JFR_LONG, JFR_UNIT_BYTES },
	{ "outsideCount", "Objects outside of TLABs", JFR_LONG, JFR_UNIT_UNSIGNED },
	{ "outsideSize", "Allocated outside of TLABs", JFR_LONG, JFR_UNIT_BYTES },
};

/*
 * What totals of waits have without an event of its own, of the segment: what was too short, and
 * all of a recording that has no times. The value is in the metric's unit, nanoseconds of waits.
 */
static const struct jfr_field total[] = {
	{ "metric", NULL, JFR_NAME, JFR_UNIT_NONE }, { "label", NULL, JFR_NAME, JFR_UNIT_NONE },
	{ "pid", NULL, JFR_LONG, JFR_UNIT_NONE },    { "count", NULL, JFR_LONG, JFR_UNIT_NONE },
	{ "value", NULL, JFR_LONG, JFR_UNIT_NONE },
};

/* The same of time off the CPU, which has no other event. */
static const struct jfr_field off_cpu[] = {
	{ "reason", NULL, JFR_NAME, JFR_UNIT_NONE },
	{ "pid", NULL, JFR_LONG, JFR_UNIT_NONE },
	{ "count", NULL, JFR_LONG, JFR_UNIT_NONE },
	{ "time", NULL, JFR_LONG, JFR_UNIT_NS },
};

static const struct jfr_field class_initialize[] = {
	{ "initializedClass", "Class", JFR_CLASS, JFR_UNIT_NONE },
	{ "definingClassLoader", "Defining Class Loader", JFR_CLASS_LOADER, JFR_UNIT_NONE },
	{ "self", "Time of Its Own", JFR_LONG, JFR_UNIT_NS },
};

/* struct rec_count: what was counted until now. */
static const struct jfr_field counter[] = {
	{ "pid", "Process Id", JFR_LONG, JFR_UNIT_NONE },
	{ "name", "Name", JFR_STRING, JFR_UNIT_NONE },
	{ "count", "Count", JFR_LONG, JFR_UNIT_UNSIGNED },
};

/* struct rec_ledger_row. */
static const struct jfr_field ledger[] = {
	{ "pid", "Process Id", JFR_LONG, JFR_UNIT_NONE },
	{ "line", "Line", JFR_NAME, JFR_UNIT_NONE },
	{ "resident", "Resident", JFR_LONG, JFR_UNIT_BYTES },
	{ "committed", "Committed", JFR_LONG, JFR_UNIT_BYTES },
	{ "reserved", "Reserved", JFR_LONG, JFR_UNIT_BYTES },
	{ "swapped", "Swapped Out", JFR_LONG, JFR_UNIT_BYTES },
	{ "count", "Count", JFR_LONG, JFR_UNIT_UNSIGNED },
};

/* struct rec_native_budget: how it is at the end of the segment. Per cent are of one core. */
static const struct jfr_field probe_budget[] = {
	{ "pid", "Process Id", JFR_LONG, JFR_UNIT_NONE },
	{ "group", "Probes", JFR_STRING, JFR_UNIT_NONE },
	{ "state", "State", JFR_STRING, JFR_UNIT_NONE },
	{ "cost", "Cost in the Last Seconds", JFR_DOUBLE, JFR_UNIT_PERCENT },
	{ "totalCost", "Cost of All", JFR_DOUBLE, JFR_UNIT_PERCENT },
	{ "limit", "Limit", JFR_DOUBLE, JFR_UNIT_PERCENT },
	{ "watched", "CPU Time Watched", JFR_LONG, JFR_UNIT_NS },
	{ "cpuTime", "CPU Time", JFR_LONG, JFR_UNIT_NS },
	{ "estimated", "Sums Are of All Time", JFR_BOOLEAN, JFR_UNIT_NONE },
	{ "error", "Standard Error by Slices of Time", JFR_DOUBLE, JFR_UNIT_PERCENT },
	{ "complete", "Nothing Was Unseen", JFR_BOOLEAN, JFR_UNIT_NONE },
	{ "attached", "Start in ns since the Epoch", JFR_LONG, JFR_UNIT_NONE },
	{ "exact", "Exact", JFR_LONG, JFR_UNIT_NS },
	{ "sampled", "Sampled", JFR_LONG, JFR_UNIT_NS },
	{ "slices", "In Slices", JFR_LONG, JFR_UNIT_NS },
	{ "counters", "As Counters", JFR_LONG, JFR_UNIT_NS },
	{ "detached", "Detached", JFR_LONG, JFR_UNIT_NS },
	{ "interval", "Mean Distance of Samples", JFR_LONG, JFR_UNIT_BYTES },
	{ "liveCount", "Live Count", JFR_LONG, JFR_UNIT_NONE },
	{ "liveSize", "Live Size", JFR_LONG, JFR_UNIT_BYTES },
};

/* struct rec_budget_event. */
static const struct jfr_field probe_state[] = {
	{ "pid", "Process Id", JFR_LONG, JFR_UNIT_NONE },
	{ "group", "Probes", JFR_STRING, JFR_UNIT_NONE },
	{ "from", "From", JFR_STRING, JFR_UNIT_NONE },
	{ "to", "To", JFR_STRING, JFR_UNIT_NONE },
	{ "reason", "Reason", JFR_STRING, JFR_UNIT_NONE },
	{ "cost", "Cost in the Last Seconds", JFR_DOUBLE, JFR_UNIT_PERCENT },
	{ "limit", "Limit", JFR_DOUBLE, JFR_UNIT_PERCENT },
};

/* struct rec_ledger, of a reading as a whole. */
static const struct jfr_field ledger_reading[] = {
	{ "pid", "Process Id", JFR_LONG, JFR_UNIT_NONE },
	{ "resident", "Resident", JFR_LONG, JFR_UNIT_BYTES },
	{ "peak", "Peak of Resident", JFR_LONG, JFR_UNIT_BYTES },
	{ "javaHeapPss", "Java Heap, Each Page Once", JFR_LONG, JFR_UNIT_BYTES },
	{ "hugetlb", "Huge Pages", JFR_LONG, JFR_UNIT_BYTES },
	{ "cost", "CPU Time of the Reading", JFR_LONG, JFR_UNIT_NS },
	{ "threads", "Threads", JFR_LONG, JFR_UNIT_UNSIGNED },
	{ "nativeCount", "Live Blocks of Native Sites", JFR_LONG, JFR_UNIT_NONE },
	{ "nativeSize", "Live at Native Sites", JFR_LONG, JFR_UNIT_BYTES },
	{ "allocator", "Other Allocator", JFR_STRING, JFR_UNIT_NONE },
};

/* struct rec_ledger_part. */
static const struct jfr_field ledger_part[] = {
	{ "pid", "Process Id", JFR_LONG, JFR_UNIT_NONE },
	{ "line", "Line", JFR_NAME, JFR_UNIT_NONE },
	{ "part", "Part", JFR_NAME, JFR_UNIT_NONE },
	{ "resident", "Resident", JFR_LONG, JFR_UNIT_BYTES },
	{ "committed", "Committed", JFR_LONG, JFR_UNIT_BYTES },
	{ "reserved", "Reserved", JFR_LONG, JFR_UNIT_BYTES },
	{ "swapped", "Swapped Out", JFR_LONG, JFR_UNIT_BYTES },
	{ "count", "Count", JFR_LONG, JFR_UNIT_UNSIGNED },
};

/* struct rec_malloc. */
static const struct jfr_field libc_heap[] = {
	{ "pid", "Process Id", JFR_LONG, JFR_UNIT_NONE },
	{ "arenas", "Arenas", JFR_LONG, JFR_UNIT_UNSIGNED },
	{ "inUse", "In Use", JFR_LONG, JFR_UNIT_BYTES },
	{ "inUseCount", "Chunks in Use", JFR_LONG, JFR_UNIT_UNSIGNED },
	{ "free", "Free", JFR_LONG, JFR_UNIT_BYTES },
	{ "mapped", "In Mappings of Their Own", JFR_LONG, JFR_UNIT_BYTES },
	{ "mappedCount", "Mappings", JFR_LONG, JFR_UNIT_UNSIGNED },
	{ "cached", "Free in Thread Caches", JFR_LONG, JFR_UNIT_BYTES },
	{ "unread", "Not Read", JFR_LONG, JFR_UNIT_BYTES },
};

/* struct rec_buffers. */
static const struct jfr_field buffers[] = {
	{ "pid", "Process Id", JFR_LONG, JFR_UNIT_NONE },
	{ "kind", "Kind", JFR_NAME, JFR_UNIT_NONE },
	{ "count", "Count", JFR_LONG, JFR_UNIT_UNSIGNED },
	{ "capacity", "Capacity", JFR_LONG, JFR_UNIT_BYTES },
	{ "reserved", "Reserved", JFR_LONG, JFR_UNIT_BYTES },
	{ "max", "Maximum", JFR_LONG, JFR_UNIT_BYTES },
};

/* struct rec_nmt. */
static const struct jfr_field nmt_tag[] = {
	{ "pid", "Process Id", JFR_LONG, JFR_UNIT_NONE },
	{ "tag", "Tag", JFR_NAME, JFR_UNIT_NONE },
	{ "mallocSize", "malloc", JFR_LONG, JFR_UNIT_BYTES },
	{ "mallocCount", "Blocks of malloc", JFR_LONG, JFR_UNIT_UNSIGNED },
	{ "arenaSize", "Arenas", JFR_LONG, JFR_UNIT_BYTES },
	{ "arenaCount", "Count of Arenas", JFR_LONG, JFR_UNIT_UNSIGNED },
	{ "reserved", "Reserved", JFR_LONG, JFR_UNIT_BYTES },
	{ "committed", "Committed", JFR_LONG, JFR_UNIT_BYTES },
};

/* struct rec_native_site: all that is known of it until now. */
static const struct jfr_field native_site[] = {
	{ "tag", "Tag", JFR_STRING, JFR_UNIT_NONE },
	{ "use", "Use", JFR_STRING, JFR_UNIT_NONE },
	{ "pid", "Process Id", JFR_LONG, JFR_UNIT_NONE },
	{ "count", "Allocated Blocks", JFR_LONG, JFR_UNIT_UNSIGNED },
	{ "size", "Allocated", JFR_LONG, JFR_UNIT_BYTES },
	{ "freedCount", "Freed Blocks", JFR_LONG, JFR_UNIT_UNSIGNED },
	{ "freedSize", "Freed", JFR_LONG, JFR_UNIT_BYTES },
	{ "untrackedCount", "Blocks not Followed", JFR_LONG, JFR_UNIT_NONE },
	{ "untrackedSize", "Not Followed", JFR_LONG, JFR_UNIT_BYTES },
	{ "sizeError", "Standard Error of Allocated", JFR_DOUBLE, JFR_UNIT_NONE },
	{ "sliceError", "The Same by Slices of Time", JFR_DOUBLE, JFR_UNIT_NONE },
	{ "oldest", "Age of the Oldest", JFR_LONG, JFR_UNIT_NS },
	{ "below1s", "Live, Younger than 1 s", JFR_LONG, JFR_UNIT_BYTES },
	{ "below10s", "Live, 1 s to 10 s Old", JFR_LONG, JFR_UNIT_BYTES },
	{ "below1min", "Live, 10 s to 1 min Old", JFR_LONG, JFR_UNIT_BYTES },
	{ "below10min", "Live, 1 min to 10 min Old", JFR_LONG, JFR_UNIT_BYTES },
	{ "below1h", "Live, 10 min to 1 h Old", JFR_LONG, JFR_UNIT_BYTES },
	{ "below1d", "Live, 1 h to 1 Day Old", JFR_LONG, JFR_UNIT_BYTES },
	{ "below1w", "Live, 1 Day to 1 Week Old", JFR_LONG, JFR_UNIT_BYTES },
	{ "older", "Live, Older", JFR_LONG, JFR_UNIT_BYTES },
};

/* struct rec_native_suspect. */
static const struct jfr_field native_suspect[] = {
	{ "tag", "Tag", JFR_STRING, JFR_UNIT_NONE },
	{ "pid", "Process Id", JFR_LONG, JFR_UNIT_NONE },
	{ "kind", "Kind", JFR_STRING, JFR_UNIT_NONE },
	{ "sites", "Sites", JFR_LONG, JFR_UNIT_UNSIGNED },
	{ "liveCount", "Live Count", JFR_LONG, JFR_UNIT_NONE },
	{ "liveSize", "Live Size", JFR_LONG, JFR_UNIT_BYTES },
	{ "bytesPerMinute", "Bytes per Minute", JFR_DOUBLE, JFR_UNIT_NONE },
	{ "survived", "Collections Survived", JFR_LONG, JFR_UNIT_UNSIGNED },
	{ "oldest", "Age of the Oldest", JFR_LONG, JFR_UNIT_NS },
	{ "below1s", "Live, Younger than 1 s", JFR_LONG, JFR_UNIT_BYTES },
	{ "below10s", "Live, 1 s to 10 s Old", JFR_LONG, JFR_UNIT_BYTES },
	{ "below1min", "Live, 10 s to 1 min Old", JFR_LONG, JFR_UNIT_BYTES },
	{ "below10min", "Live, 1 min to 10 min Old", JFR_LONG, JFR_UNIT_BYTES },
	{ "below1h", "Live, 10 min to 1 h Old", JFR_LONG, JFR_UNIT_BYTES },
	{ "below1d", "Live, 1 h to 1 Day Old", JFR_LONG, JFR_UNIT_BYTES },
	{ "below1w", "Live, 1 Day to 1 Week Old", JFR_LONG, JFR_UNIT_BYTES },
	{ "older", "Live, Older", JFR_LONG, JFR_UNIT_BYTES },
};

/* struct rec_native_calls: all that is known of them until now, innermost call first. */
static const struct jfr_field native_calls[] = {
	{ "tag", "Tag", JFR_STRING, JFR_UNIT_NONE },
	{ "use", "Use", JFR_STRING, JFR_UNIT_NONE },
	{ "pid", "Process Id", JFR_LONG, JFR_UNIT_NONE },
	{ "count", "Allocated Blocks", JFR_LONG, JFR_UNIT_UNSIGNED },
	{ "size", "Allocated", JFR_LONG, JFR_UNIT_BYTES },
	{ "freedCount", "Freed Blocks", JFR_LONG, JFR_UNIT_UNSIGNED },
	{ "freedSize", "Freed", JFR_LONG, JFR_UNIT_BYTES },
	{ "untrackedCount", "Blocks not Followed", JFR_LONG, JFR_UNIT_NONE },
	{ "untrackedSize", "Not Followed", JFR_LONG, JFR_UNIT_BYTES },
	{ "sizeError", "Standard Error of Allocated", JFR_DOUBLE, JFR_UNIT_NONE },
	{ "sliceError", "The Same by Slices of Time", JFR_DOUBLE, JFR_UNIT_NONE },
	{ "address1", "Address 1", JFR_LONG, JFR_UNIT_ADDRESS },
	{ "function1", "Function 1", JFR_STRING, JFR_UNIT_NONE },
	{ "offset1", "Offset in Function 1", JFR_LONG, JFR_UNIT_NONE },
	{ "address2", "Address 2", JFR_LONG, JFR_UNIT_ADDRESS },
	{ "function2", "Function 2", JFR_STRING, JFR_UNIT_NONE },
	{ "offset2", "Offset in Function 2", JFR_LONG, JFR_UNIT_NONE },
	{ "address3", "Address 3", JFR_LONG, JFR_UNIT_ADDRESS },
	{ "function3", "Function 3", JFR_STRING, JFR_UNIT_NONE },
	{ "offset3", "Offset in Function 3", JFR_LONG, JFR_UNIT_NONE },
	{ "address4", "Address 4", JFR_LONG, JFR_UNIT_ADDRESS },
	{ "function4", "Function 4", JFR_STRING, JFR_UNIT_NONE },
	{ "offset4", "Offset in Function 4", JFR_LONG, JFR_UNIT_NONE },
};

/* struct rec_series: one value of it, at the start of its bucket. */
static const struct jfr_field value[] = {
	{ "pid", "Process Id", JFR_LONG, JFR_UNIT_NONE },
	{ "name", "Name", JFR_NAME, JFR_UNIT_NONE },
	{ "value", "Value", JFR_LONG, JFR_UNIT_NONE },
};

static const struct jfr_field java_agent[] = {
	{ "name", "Name", JFR_STRING, JFR_UNIT_NONE },
	{ "options", "Options", JFR_STRING, JFR_UNIT_NONE },
	{ "dynamic", "Dynamic", JFR_BOOLEAN, JFR_UNIT_NONE },
	{ "initializationTime", "Initialization Time", JFR_LONG, JFR_UNIT_TICKS_AT },
	{ "initializationDuration", "Initialization Duration", JFR_LONG, JFR_UNIT_TICKS },
};

static const struct jfr_field native_agent[] = {
	{ "name", "Name", JFR_STRING, JFR_UNIT_NONE },
	{ "options", "Options", JFR_STRING, JFR_UNIT_NONE },
	{ "dynamic", "Dynamic", JFR_BOOLEAN, JFR_UNIT_NONE },
	{ "initializationTime", "Initialization Time", JFR_LONG, JFR_UNIT_TICKS_AT },
	{ "initializationDuration", "Initialization Duration", JFR_LONG, JFR_UNIT_TICKS },
	{ "path", "Path", JFR_STRING, JFR_UNIT_NONE },
};

#define PROFILING     "Java Virtual Machine/Profiling"
#define NATIVE_MEMORY "Java Virtual Machine/Native Memory"
#define DIAGNOSTICS   "Java Virtual Machine/Diagnostics"
#define OURS	      "jvmscope"

const struct jfr_type jfr_own_events[JFR_OWN_EVENT_NR] = {
	[JFR_WALL_CLOCK_SAMPLE - JFR_OWN_EVENT_FIRST] = { "profiler.WallClockSample",
							  "Wall Clock Sample", PROFILING, 0,
							  FIELDS(wall_clock_sample) },
	[JFR_MALLOC - JFR_OWN_EVENT_FIRST] = { "profiler.Malloc", "malloc", NATIVE_MEMORY,
					       JFR_EVENT_THREAD | JFR_EVENT_STACK,
					       FIELDS(malloc_fields) },
	[JFR_FREE - JFR_OWN_EVENT_FIRST] = { "profiler.Free", "free", NATIVE_MEMORY,
					     JFR_EVENT_THREAD | JFR_EVENT_STACK,
					     FIELDS(free_fields) },
	[JFR_NATIVE_ALLOCATION - JFR_OWN_EVENT_FIRST] = { "jvmscope.NativeAllocation",
							  "Native Allocation", OURS,
							  JFR_EVENT_THREAD | JFR_EVENT_STACK,
							  FIELDS(native_allocation) },
	[JFR_NATIVE_MAPPING - JFR_OWN_EVENT_FIRST] = { "jvmscope.NativeMapping", "Native Mapping",
						       OURS, JFR_EVENT_THREAD | JFR_EVENT_STACK,
						       FIELDS(native_mapping) },
	[JFR_RECORDING - JFR_OWN_EVENT_FIRST] = { "jvmscope.Recording", "Recording", OURS, 0,
						  FIELDS(recording) },
	[JFR_JVM - JFR_OWN_EVENT_FIRST] = { "jvmscope.JVM", "JVM", OURS, 0, FIELDS(jvm) },
	[JFR_THREAD_TIME - JFR_OWN_EVENT_FIRST] = { "jvmscope.ThreadTime", "Thread Time", OURS,
						    JFR_EVENT_THREAD, FIELDS(thread_time) },
	[JFR_QUALITY - JFR_OWN_EVENT_FIRST] = { "jvmscope.Quality", "Quality of the Recording",
						OURS, 0, FIELDS(quality) },
	[JFR_FILTER - JFR_OWN_EVENT_FIRST] = { "jvmscope.Filter", "Class-Name Rules", OURS, 0,
					       FIELDS(filter) },
	[JFR_FILTER_RULE - JFR_OWN_EVENT_FIRST] = { "jvmscope.FilterRule", "Class-Name Rule", OURS,
						    0, FIELDS(filter_rule) },
	[JFR_CLASS_FILE - JFR_OWN_EVENT_FIRST] = { "jvmscope.ClassFile", "Class File", OURS,
						   JFR_EVENT_THREAD | JFR_EVENT_STACK,
						   FIELDS(class_file) },
	[JFR_CLASS_COUNT - JFR_OWN_EVENT_FIRST] = { "jvmscope.ClassCount", "Class Counter", OURS, 0,
						    FIELDS(counter) },
	[JFR_LEDGER - JFR_OWN_EVENT_FIRST] = { "jvmscope.Ledger", "Memory Ledger", OURS, 0,
					       FIELDS(ledger) },
	[JFR_PROBE_BUDGET - JFR_OWN_EVENT_FIRST] = { "jvmscope.ProbeBudget", "Budget of Probes",
						     OURS, 0, FIELDS(probe_budget) },
	[JFR_PROBE_STATE - JFR_OWN_EVENT_FIRST] = { "jvmscope.ProbeState",
						    "Change of What Probes Record", OURS, 0,
						    FIELDS(probe_state) },
	[JFR_LEDGER_READING - JFR_OWN_EVENT_FIRST] = { "jvmscope.LedgerReading",
						       "Reading of the Memory Ledger", OURS, 0,
						       FIELDS(ledger_reading) },
	[JFR_LEDGER_PART - JFR_OWN_EVENT_FIRST] = { "jvmscope.LedgerPart",
						    "Part of a Line of the Memory Ledger", OURS, 0,
						    FIELDS(ledger_part) },
	[JFR_LIBC_HEAP - JFR_OWN_EVENT_FIRST] = { "jvmscope.LibcHeap", "Allocator of libc", OURS, 0,
						  FIELDS(libc_heap) },
	[JFR_BUFFERS - JFR_OWN_EVENT_FIRST] = { "jvmscope.Buffers", "Buffers outside the Java Heap",
						OURS, 0, FIELDS(buffers) },
	[JFR_NMT_TAG - JFR_OWN_EVENT_FIRST] = { "jvmscope.NmtTag", "Tag of Native Memory Tracking",
						OURS, 0, FIELDS(nmt_tag) },
	[JFR_NATIVE_SITE - JFR_OWN_EVENT_FIRST] = { "jvmscope.NativeSite", "Native Site", OURS,
						    JFR_EVENT_STACK, FIELDS(native_site) },
	[JFR_NATIVE_SUSPECT - JFR_OWN_EVENT_FIRST] = { "jvmscope.NativeSuspect",
						       "Suspect of a Native Leak", OURS,
						       JFR_EVENT_STACK, FIELDS(native_suspect) },
	[JFR_NATIVE_CALLS - JFR_OWN_EVENT_FIRST] = { "jvmscope.NativeCalls",
						     "Native Memory by Calls", OURS, 0,
						     FIELDS(native_calls) },
	[JFR_NATIVE_COUNT - JFR_OWN_EVENT_FIRST] = { "jvmscope.NativeCount",
						     "Native Memory Counter", OURS, 0,
						     FIELDS(counter) },
	[JFR_VALUE - JFR_OWN_EVENT_FIRST] = { "jvmscope.Value", "Value over Time", OURS, 0,
					      FIELDS(value) },
	[JFR_JAVA_AGENT - JFR_OWN_EVENT_FIRST] = { "jdk.JavaAgent", "Java Agent", DIAGNOSTICS, 0,
						   FIELDS(java_agent) },
	[JFR_NATIVE_AGENT - JFR_OWN_EVENT_FIRST] = { "jdk.NativeAgent", "Native Agent", DIAGNOSTICS,
						     0, FIELDS(native_agent) },
	[JFR_CLASS_LINK - JFR_OWN_EVENT_FIRST] = { "jvmscope.ClassLink", "Class Link", OURS,
						   JFR_DURATION, FIELDS(class_link) },
	[JFR_CLASS_INITIALIZE - JFR_OWN_EVENT_FIRST] = { "jvmscope.ClassInitialize",
							 "Class Initialize", OURS, JFR_DURATION,
							 FIELDS(class_initialize) },
	[JFR_HEAP_CLASS - JFR_OWN_EVENT_FIRST] = { "jvmscope.HeapClass", "Class in the Java Heap",
						   OURS, 0, FIELDS(heap_class) },
	[JFR_TOTAL - JFR_OWN_EVENT_FIRST] = { "jvmscope.Total", NULL, OURS,
					      JFR_EVENT_THREAD | JFR_EVENT_STACK, FIELDS(total) },
	[JFR_OFF_CPU - JFR_OWN_EVENT_FIRST] = { "jvmscope.OffCpu", "Off CPU", OURS,
						JFR_EVENT_THREAD | JFR_EVENT_STACK,
						FIELDS(off_cpu) },
};
