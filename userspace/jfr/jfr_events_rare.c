/* SPDX-License-Identifier: Apache-2.0 */
#include "jfr/jfr_events_impl.h"

/*
 * Events of the JDK that are written once a second at most: their numbers take two bytes. Fields
 * and labels are those that "jfr metadata" of JDK 25 prints.
 */

static const struct jfr_field compiler_statistics[] = {
	{ "compileCount", "Compiled Methods", JFR_INT, JFR_UNIT_NONE },
	{ "bailoutCount", "Bailouts", JFR_INT, JFR_UNIT_NONE },
	{ "invalidatedCount", "Invalidated Compilations", JFR_INT, JFR_UNIT_NONE },
	{ "osrCompileCount", "OSR Compilations", JFR_INT, JFR_UNIT_NONE },
	{ "standardCompileCount", "Standard Compilations", JFR_INT, JFR_UNIT_NONE },
	{ "osrBytesCompiled", "OSR Bytes Compiled", JFR_LONG, JFR_UNIT_BYTES },
	{ "standardBytesCompiled", "Standard Bytes Compiled", JFR_LONG, JFR_UNIT_BYTES },
	{ "nmethodsSize", "Compilation Resulting Size", JFR_LONG, JFR_UNIT_BYTES },
	{ "nmethodCodeSize", "Compilation Resulting Code Size", JFR_LONG, JFR_UNIT_BYTES },
	{ "peakTimeSpent", "Peak Time", JFR_LONG, JFR_UNIT_MS },
	{ "totalTimeSpent", "Total Time", JFR_LONG, JFR_UNIT_MS },
};

static const struct jfr_field gc_heap_memory_usage[] = {
	{ "used", "Heap Used", JFR_LONG, JFR_UNIT_BYTES },
	{ "committed", "Heap Committed", JFR_LONG, JFR_UNIT_BYTES },
	{ "max", "Heap Max", JFR_LONG, JFR_UNIT_BYTES },
};

static const struct jfr_field gc_heap_memory_pool_usage[] = {
	{ "name", "Name", JFR_STRING, JFR_UNIT_NONE },
	{ "used", "GC Heap Memory Pool Used", JFR_LONG, JFR_UNIT_BYTES },
	{ "committed", "GC Heap Memory Pool Committed", JFR_LONG, JFR_UNIT_BYTES },
	{ "max", "GC Heap Memory Pool Max", JFR_LONG, JFR_UNIT_BYTES },
};

static const struct jfr_field swap_space[] = {
	{ "totalSize", "Total Size", JFR_LONG, JFR_UNIT_BYTES },
	{ "freeSize", "Free Size", JFR_LONG, JFR_UNIT_BYTES },
};

const struct jfr_type jfr_rare_events[JFR_RARE_NR] = {
	[JFR_COMPILER_STATISTICS -
	 JFR_RARE_FIRST] = { "jdk.CompilerStatistics", "Compiler Statistics",
			     "Java Virtual Machine/Compiler", 0, FIELDS(compiler_statistics) },
	[JFR_GC_HEAP_MEMORY_USAGE -
		JFR_RARE_FIRST] = { "jdk.GCHeapMemoryUsage", "GC Heap Memory Usage",
				    "Java Virtual Machine/Heap", 0, FIELDS(gc_heap_memory_usage) },
	[JFR_GC_HEAP_MEMORY_POOL_USAGE - JFR_RARE_FIRST] = { "jdk.GCHeapMemoryPoolUsage",
							     "GC Heap Memory Pool Usage",
							     "Java Virtual Machine/Heap", 0,
							     FIELDS(gc_heap_memory_pool_usage) },
	[JFR_SWAP_SPACE - JFR_RARE_FIRST] = { "jdk.SwapSpace", "Swap Space",
					      "Operating System/Memory", 0, FIELDS(swap_space) },
};
