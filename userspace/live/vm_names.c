/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>
#include <string.h>

#include "live/vm_impl.h"

/*
 * What the JVM's own numbers of collectors and of causes mean. They are those of its GCName and
 * GCCause, which change from release to release; the texts are the constants that the JVM's own
 * recordings have of them. Releases between two that are here have the older one's numbers.
 */

static const char *const names_8[] = {
	"ParallelOld", "SerialOld",	      "PSMarkSweep", "ParallelScavenge", "DefNew", "ParNew",
	"G1New",       "ConcurrentMarkSweep", "G1Old",
};

static const char *const causes_8[] = {
	"System.gc()",
	"FullGCAlot",
	"ScavengeAlot",
	"Allocation Profiler",
	"JvmtiEnv ForceGarbageCollection",
	"GCLocker Initiated GC",
	"Heap Inspection Initiated GC",
	"Heap Dump Initiated GC",
	"WhiteBox Initiated Young GC",
	"WhiteBox Initiated Concurrent Mark",
	"Update Allocation Context Stats",
	"Update Allocation Context Stats",
	"No GC",
	"unknown GCCause",
	"Allocation Failure",
	"Tenured Generation Full",
	"Metadata GC Threshold",
	"CMS Generation Full",
	"CMS Initial Mark",
	"CMS Final Remark",
	"CMS Concurrent Mark",
	"Old Generation Expanded On Last Scavenge",
	"Old Generation Too Full To Scavenge",
	"Ergonomics",
	"G1 Evacuation Pause",
	"G1 Humongous Allocation",
	"Last ditch collection",
};

static const char *const names_11[] = {
	"ParallelOld", "SerialOld", "PSMarkSweep", "ParallelScavenge",
	"DefNew",      "ParNew",    "G1New",	   "ConcurrentMarkSweep",
	"G1Old",       "G1Full",    "Z",	   "Shenandoah",
	"N/A",
};

static const char *const causes_11[] = {
	"System.gc()",
	"FullGCAlot",
	"ScavengeAlot",
	"Allocation Profiler",
	"JvmtiEnv ForceGarbageCollection",
	"GCLocker Initiated GC",
	"Heap Inspection Initiated GC",
	"Heap Dump Initiated GC",
	"WhiteBox Initiated Young GC",
	"WhiteBox Initiated Concurrent Mark",
	"WhiteBox Initiated Full GC",
	"No GC",
	"unknown GCCause",
	"Allocation Failure",
	"Tenured Generation Full",
	"Metadata GC Threshold",
	"Metadata GC Clear Soft References",
	"CMS Generation Full",
	"CMS Initial Mark",
	"CMS Final Remark",
	"CMS Concurrent Mark",
	"Old Generation Expanded On Last Scavenge",
	"Old Generation Too Full To Scavenge",
	"Ergonomics",
	"G1 Evacuation Pause",
	"G1 Humongous Allocation",
	"Diagnostic Command",
	"Stopping VM",
	"Allocation Failure During Evacuation",
	"Concurrent GC",
	"Upgrade To Full GC",
	"Timer",
	"Warmup",
	"Allocation Rate",
	"Allocation Stall",
	"Proactive",
};

static const char *const names_17[] = {
	"ParallelOld", "SerialOld", "ParallelScavenge", "DefNew", "G1New", "G1Old",
	"G1Full",      "Z",	    "Shenandoah",	"N/A",
};

static const char *const causes_17[] = {
	"System.gc()",
	"FullGCAlot",
	"ScavengeAlot",
	"Allocation Profiler",
	"JvmtiEnv ForceGarbageCollection",
	"GCLocker Initiated GC",
	"Heap Inspection Initiated GC",
	"Heap Dump Initiated GC",
	"WhiteBox Initiated Young GC",
	"WhiteBox Initiated Concurrent Mark",
	"WhiteBox Initiated Full GC",
	"WhiteBox Initiated Run to Breakpoint",
	"Full GC for -Xshare:dump",
	"No GC",
	"unknown GCCause",
	"Allocation Failure",
	"Tenured Generation Full",
	"Metadata GC Threshold",
	"Metadata GC Clear Soft References",
	"Old Generation Expanded On Last Scavenge",
	"Old Generation Too Full To Scavenge",
	"Ergonomics",
	"G1 Evacuation Pause",
	"G1 Compaction Pause",
	"G1 Humongous Allocation",
	"G1 Periodic Collection",
	"G1 Preventive Collection",
	"Diagnostic Command",
	"Stopping VM",
	"Allocation Failure During Evacuation",
	"Concurrent GC",
	"Upgrade To Full GC",
	"Timer",
	"Warmup",
	"Allocation Rate",
	"Allocation Stall",
	"Proactive",
	"High Usage",
};

static const char *const names_21[] = {
	"ParallelOld", "SerialOld", "ParallelScavenge", "DefNew", "G1New",	"G1Old",
	"G1Full",      "ZGC Minor", "ZGC Major",	"Z",	  "Shenandoah", "N/A",
};

static const char *const causes_21[] = {
	"System.gc()",
	"FullGCAlot",
	"ScavengeAlot",
	"Allocation Profiler",
	"JvmtiEnv ForceGarbageCollection",
	"GCLocker Initiated GC",
	"Heap Inspection Initiated GC",
	"Heap Dump Initiated GC",
	"WhiteBox Initiated Young GC",
	"WhiteBox Initiated Full GC",
	"WhiteBox Initiated Run to Breakpoint",
	"No GC",
	"unknown GCCause",
	"Allocation Failure",
	"CodeCache GC Threshold",
	"CodeCache GC Aggressive",
	"Metadata GC Threshold",
	"Metadata GC Clear Soft References",
	"Ergonomics",
	"G1 Evacuation Pause",
	"G1 Compaction Pause",
	"G1 Humongous Allocation",
	"G1 Periodic Collection",
	"Diagnostic Command",
	"Stopping VM",
	"Allocation Failure During Evacuation",
	"Concurrent GC",
	"Upgrade To Full GC",
	"Timer",
	"Warmup",
	"Allocation Rate",
	"Allocation Stall",
	"Proactive",
	"High Usage",
};

static const char *const names_25[] = {
	"ParallelOld", "SerialOld",  "ParallelScavenge", "DefNew",
	"G1New",       "G1Old",	     "G1Full",		 "ZGC Minor",
	"ZGC Major",   "Shenandoah", "Shenandoah Young", "Shenandoah Old",
	"N/A",
};

static const char *const causes_25[] = {
	"System.gc()",
	"FullGCAlot",
	"ScavengeAlot",
	"Allocation Profiler",
	"JvmtiEnv ForceGarbageCollection",
	"Heap Inspection Initiated GC",
	"Heap Dump Initiated GC",
	"WhiteBox Initiated Young GC",
	"WhiteBox Initiated Full GC",
	"WhiteBox Initiated Run to Breakpoint",
	"No GC",
	"unknown GCCause",
	"Allocation Failure",
	"CodeCache GC Threshold",
	"CodeCache GC Aggressive",
	"Metadata GC Threshold",
	"Metadata GC Clear Soft References",
	"G1 Evacuation Pause",
	"G1 Compaction Pause",
	"G1 Humongous Allocation",
	"G1 Periodic Collection",
	"Diagnostic Command",
	"Stopping VM",
	"Allocation Failure During Evacuation",
	"unknown GCCause",
	"Concurrent GC",
	"Upgrade To Full GC",
	"Timer",
	"Warmup",
	"Allocation Rate",
	"Allocation Stall",
	"Proactive",
	"High Usage",
};

static const char *const causes_26[] = {
	"System.gc()",
	"FullGCAlot",
	"ScavengeAlot",
	"Allocation Profiler",
	"JvmtiEnv ForceGarbageCollection",
	"Heap Inspection Initiated GC",
	"Heap Dump Initiated GC",
	"WhiteBox Initiated Young GC",
	"WhiteBox Initiated Full GC",
	"WhiteBox Initiated Run to Breakpoint",
	"No GC",
	"Allocation Failure",
	"CodeCache GC Threshold",
	"CodeCache GC Aggressive",
	"Metadata GC Threshold",
	"Metadata GC Clear Soft References",
	"G1 Evacuation Pause",
	"G1 Compaction Pause",
	"G1 Humongous Allocation",
	"G1 Periodic Collection",
	"Diagnostic Command",
	"Stopping VM",
	"Allocation Failure During Evacuation",
	"Humongous Allocation Failure",
	"Concurrent GC",
	"Upgrade To Full GC",
	"Timer",
	"Warmup",
	"Allocation Rate",
	"Allocation Stall",
	"Proactive",
	"High Usage",
};

#define TABLE(table) (table), sizeof(table) / sizeof((table)[0])

struct names {
	const char *const *texts;
	size_t count;
};

/* The last one whose release is not newer counts. */
static const struct {
	int major;
	struct names names, causes;
} releases[] = {
	{ 8, { TABLE(names_8) }, { TABLE(causes_8) } },
	{ 11, { TABLE(names_11) }, { TABLE(causes_11) } },
	{ 17, { TABLE(names_17) }, { TABLE(causes_17) } },
	{ 21, { TABLE(names_21) }, { TABLE(causes_21) } },
	{ 25, { TABLE(names_25) }, { TABLE(causes_25) } },
	{ 26, { TABLE(names_25) }, { TABLE(causes_26) } },
};

/* The release's row; the oldest for one that is older than all. */
static size_t release_of(int major)
{
	size_t at = sizeof(releases) / sizeof(releases[0]) - 1;

	while (at && releases[at].major > major)
		at--;
	return at;
}

static const char *text_of(const struct names *names, uint32_t number)
{
	return number < names->count ? names->texts[number] : "";
}

const char *vm_gc_name(int major, uint32_t number)
{
	return text_of(&releases[release_of(major)].names, number);
}

const char *vm_gc_cause(int major, uint32_t number)
{
	return text_of(&releases[release_of(major)].causes, number);
}

const char *vm_operation_name(const char *name)
{
	static const struct {
		const char *shown, *name;
	} operations[] = {
		{ "Shenandoah Init Marking", "ShenandoahInitMark" },
		{ "Shenandoah Final Mark and Start Evacuation", "ShenandoahFinalMarkStartEvac" },
		{ "Shenandoah Init Update References", "ShenandoahInitUpdateRefs" },
		{ "Shenandoah Final Update References", "ShenandoahFinalUpdateRefs" },
		{ "Shenandoah Final Roots", "ShenandoahFinalRoots" },
		{ "Shenandoah Final Verify", "ShenandoahFinalVerify" },
		{ "Shenandoah Full GC", "ShenandoahFullGC" },
		{ "Shenandoah Degenerated GC", "ShenandoahDegeneratedGC" },
	};

	for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++)
		if (!strcmp(name, operations[i].shown))
			return operations[i].name;
	return name;
}
