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

static const struct jfr_field boolean_flag[] = {
	{ "name", "Name", JFR_STRING, JFR_UNIT_NONE },
	{ "value", "Value", JFR_BOOLEAN, JFR_UNIT_NONE },
	{ "origin", "Origin", JFR_FLAG_VALUE_ORIGIN, JFR_UNIT_NONE },
};

static const struct jfr_field int_flag[] = {
	{ "name", "Name", JFR_STRING, JFR_UNIT_NONE },
	{ "value", "Value", JFR_INT, JFR_UNIT_NONE },
	{ "origin", "Origin", JFR_FLAG_VALUE_ORIGIN, JFR_UNIT_NONE },
};

static const struct jfr_field unsigned_int_flag[] = {
	{ "name", "Name", JFR_STRING, JFR_UNIT_NONE },
	{ "value", "Value", JFR_INT, JFR_UNIT_UNSIGNED },
	{ "origin", "Origin", JFR_FLAG_VALUE_ORIGIN, JFR_UNIT_NONE },
};

static const struct jfr_field long_flag[] = {
	{ "name", "Name", JFR_STRING, JFR_UNIT_NONE },
	{ "value", "Value", JFR_LONG, JFR_UNIT_NONE },
	{ "origin", "Origin", JFR_FLAG_VALUE_ORIGIN, JFR_UNIT_NONE },
};

static const struct jfr_field unsigned_long_flag[] = {
	{ "name", "Name", JFR_STRING, JFR_UNIT_NONE },
	{ "value", "Value", JFR_LONG, JFR_UNIT_UNSIGNED },
	{ "origin", "Origin", JFR_FLAG_VALUE_ORIGIN, JFR_UNIT_NONE },
};

static const struct jfr_field double_flag[] = {
	{ "name", "Name", JFR_STRING, JFR_UNIT_NONE },
	{ "value", "Value", JFR_DOUBLE, JFR_UNIT_NONE },
	{ "origin", "Origin", JFR_FLAG_VALUE_ORIGIN, JFR_UNIT_NONE },
};

static const struct jfr_field string_flag[] = {
	{ "name", "Name", JFR_STRING, JFR_UNIT_NONE },
	{ "value", "Value", JFR_STRING, JFR_UNIT_NONE },
	{ "origin", "Origin", JFR_FLAG_VALUE_ORIGIN, JFR_UNIT_NONE },
};

static const struct jfr_field compiler_configuration[] = {
	{ "threadCount", "Thread Count", JFR_INT, JFR_UNIT_NONE },
	{ "tieredCompilation", "Tiered Compilation", JFR_BOOLEAN, JFR_UNIT_NONE },
	{ "dynamicCompilerThreadCount", "Uses Dynamic Number of Compiler Threads", JFR_BOOLEAN,
	  JFR_UNIT_NONE },
};

static const struct jfr_field code_cache_configuration[] = {
	{ "initialSize", "Initial Size", JFR_LONG, JFR_UNIT_BYTES },
	{ "reservedSize", "Reserved Size", JFR_LONG, JFR_UNIT_BYTES },
	{ "nonNMethodSize", "Non-Nmethod Size", JFR_LONG, JFR_UNIT_BYTES },
	{ "profiledSize", "Profiled Size", JFR_LONG, JFR_UNIT_BYTES },
	{ "nonProfiledSize", "Non-Profiled Size", JFR_LONG, JFR_UNIT_BYTES },
	{ "expansionSize", "Expansion Size", JFR_LONG, JFR_UNIT_BYTES },
	{ "minBlockLength", "Minimum Block Length", JFR_LONG, JFR_UNIT_BYTES },
	{ "startAddress", "Start Address", JFR_LONG, JFR_UNIT_ADDRESS },
	{ "reservedTopAddress", "Reserved Top", JFR_LONG, JFR_UNIT_ADDRESS },
};

static const struct jfr_field gc_tlab_configuration[] = {
	{ "usesTLABs", "TLABs Used", JFR_BOOLEAN, JFR_UNIT_NONE },
	{ "minTLABSize", "Minimum TLAB Size", JFR_LONG, JFR_UNIT_BYTES },
	{ "tlabRefillWasteLimit", "TLAB Refill Waste Limit", JFR_LONG, JFR_UNIT_BYTES },
};

static const struct jfr_field gc_survivor_configuration[] = {
	{ "maxTenuringThreshold", "Maximum Tenuring Threshold", JFR_BYTE, JFR_UNIT_UNSIGNED },
	{ "initialTenuringThreshold", "Initial Tenuring Threshold", JFR_BYTE, JFR_UNIT_UNSIGNED },
};

static const struct jfr_field young_generation_configuration[] = {
	{ "minSize", "Minimum Young Generation Size", JFR_LONG, JFR_UNIT_BYTES },
	{ "maxSize", "Maximum Young Generation Size", JFR_LONG, JFR_UNIT_BYTES },
	{ "newRatio", "New Ratio", JFR_INT, JFR_UNIT_UNSIGNED },
};

static const struct jfr_field setting[] = {
	{ "pid", "Process Identifier", JFR_LONG, JFR_UNIT_NONE },
	{ "kind", "Kind", JFR_NAME, JFR_UNIT_NONE },
	{ "name", "Name", JFR_STRING, JFR_UNIT_NONE },
	{ "type", "Type", JFR_NAME, JFR_UNIT_NONE },
	{ "value", "Value", JFR_STRING, JFR_UNIT_NONE },
	{ "origin", "Origin", JFR_NAME, JFR_UNIT_NONE },
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
	[JFR_BOOLEAN_FLAG - JFR_RARE_FIRST] = { "jdk.BooleanFlag", "Boolean Flag",
						"Java Virtual Machine/Flag", 0,
						FIELDS(boolean_flag) },
	[JFR_INT_FLAG - JFR_RARE_FIRST] = { "jdk.IntFlag", "Int Flag", "Java Virtual Machine/Flag",
					    0, FIELDS(int_flag) },
	[JFR_UNSIGNED_INT_FLAG - JFR_RARE_FIRST] = { "jdk.UnsignedIntFlag", "Unsigned Int Flag",
						     "Java Virtual Machine/Flag", 0,
						     FIELDS(unsigned_int_flag) },
	[JFR_LONG_FLAG - JFR_RARE_FIRST] = { "jdk.LongFlag", "Long Flag",
					     "Java Virtual Machine/Flag", 0, FIELDS(long_flag) },
	[JFR_UNSIGNED_LONG_FLAG - JFR_RARE_FIRST] = { "jdk.UnsignedLongFlag", "Unsigned Long Flag",
						      "Java Virtual Machine/Flag", 0,
						      FIELDS(unsigned_long_flag) },
	[JFR_DOUBLE_FLAG - JFR_RARE_FIRST] = { "jdk.DoubleFlag", "Double Flag",
					       "Java Virtual Machine/Flag", 0,
					       FIELDS(double_flag) },
	[JFR_STRING_FLAG - JFR_RARE_FIRST] = { "jdk.StringFlag", "String Flag",
					       "Java Virtual Machine/Flag", 0,
					       FIELDS(string_flag) },
	[JFR_COMPILER_CONFIGURATION - JFR_RARE_FIRST] = { "jdk.CompilerConfiguration",
							  "Compiler Configuration",
							  "Java Virtual Machine/Compiler", 0,
							  FIELDS(compiler_configuration) },
	[JFR_CODE_CACHE_CONFIGURATION - JFR_RARE_FIRST] = { "jdk.CodeCacheConfiguration",
							    "Code Cache Configuration",
							    "Java Virtual Machine/Code Cache", 0,
							    FIELDS(code_cache_configuration) },
	[JFR_GC_TLAB_CONFIGURATION - JFR_RARE_FIRST] = { "jdk.GCTLABConfiguration",
							 "TLAB Configuration",
							 "Java Virtual Machine/GC/Configuration", 0,
							 FIELDS(gc_tlab_configuration) },
	[JFR_GC_SURVIVOR_CONFIGURATION -
		JFR_RARE_FIRST] = { "jdk.GCSurvivorConfiguration", "GC Survivor Configuration",
				    "Java Virtual Machine/GC/Configuration", 0,
				    FIELDS(gc_survivor_configuration) },
	[JFR_YOUNG_GENERATION_CONFIGURATION -
		JFR_RARE_FIRST] = { "jdk.YoungGenerationConfiguration",
				    "Young Generation Configuration",
				    "Java Virtual Machine/GC/Configuration", 0,
				    FIELDS(young_generation_configuration) },
	[JFR_SETTING - JFR_RARE_FIRST] = { "jvmscope.Setting", "What a JVM Runs with", "jvmscope",
					   0, FIELDS(setting) },
};
