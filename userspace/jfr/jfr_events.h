/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_JFR_EVENTS_H
#define JVMSCOPE_JFR_EVENTS_H

#include <stddef.h>
#include <stdint.h>

/*
 * The one table of JFR types: every event that is written here or that "jfr view" asks for, and
 * every type its fields are made of.
 *
 * The number of a type is its id in files written here. In files of others ids are different ones,
 * in each file and chunk: a reader finds types by name.
 */
enum jfr_type_id {
	JFR_METADATA = 0,
	JFR_CHECKPOINT = 1,

	/* Events of the JDK that are written. All but rare events are below 128: one byte
	 * in each event. */
	JFR_JDK_EVENT_FIRST = 2,
	JFR_EXECUTION_SAMPLE = JFR_JDK_EVENT_FIRST,
	JFR_NATIVE_METHOD_SAMPLE,
	JFR_CPU_TIME_SAMPLE,
	JFR_OBJECT_ALLOCATION_IN_NEW_TLAB,
	JFR_OBJECT_ALLOCATION_OUTSIDE_TLAB,
	JFR_OBJECT_ALLOCATION_SAMPLE,
	JFR_CPU_LOAD,
	JFR_THREAD_CPU_LOAD,
	JFR_THREAD_CONTEXT_SWITCH_RATE,
	JFR_JAVA_THREAD_STATISTICS,
	JFR_THREAD_START,
	JFR_THREAD_END,
	JFR_JAVA_MONITOR_ENTER,
	JFR_JAVA_MONITOR_WAIT,
	JFR_THREAD_PARK,
	JFR_THREAD_SLEEP,
	JFR_COMPILATION,
	JFR_COMPILER_PHASE,
	JFR_DEOPTIMIZATION,
	JFR_JAVA_EXCEPTION_THROW,
	JFR_JAVA_ERROR_THROW,
	JFR_EXCEPTION_STATISTICS,
	JFR_CLASS_LOAD,
	JFR_CLASS_DEFINE,
	JFR_CLASS_UNLOAD,
	JFR_CLASS_LOADING_STATISTICS,
	JFR_CLASS_LOADER_STATISTICS,
	JFR_GC_CONFIGURATION,
	JFR_GC_HEAP_CONFIGURATION,
	JFR_SYSTEM_GC,
	JFR_NATIVE_MEMORY_USAGE,
	JFR_NATIVE_MEMORY_USAGE_TOTAL,
	JFR_RESIDENT_SET_SIZE,
	JFR_PHYSICAL_MEMORY,
	JFR_NATIVE_LIBRARY,
	JFR_JVM_INFORMATION,
	JFR_OS_INFORMATION,
	JFR_CPU_INFORMATION,
	JFR_VIRTUALIZATION_INFORMATION,
	JFR_CONTAINER_CONFIGURATION,
	JFR_CONTAINER_CPU_USAGE,
	JFR_CONTAINER_CPU_THROTTLING,
	JFR_CONTAINER_MEMORY_USAGE,
	JFR_INITIAL_SYSTEM_PROPERTY,
	JFR_ACTIVE_RECORDING,
	JFR_ACTIVE_SETTING,
	JFR_DATA_LOSS,
	JFR_FILE_READ,
	JFR_FILE_WRITE,
	JFR_FILE_FORCE,
	JFR_SOCKET_READ,
	JFR_SOCKET_WRITE,
	JFR_JDK_EVENT_END,

	/*
	 * Events of async-profiler, whose names its readers know, our own, the JDK's of 22. Behind
	 * 'L', which is none: see jfr_write.h. So there is room below 127, the other one, and some
	 * for more of the JDK's before it.
	 */
	JFR_OWN_EVENT_FIRST = 'L' + 1,
	JFR_WALL_CLOCK_SAMPLE = JFR_OWN_EVENT_FIRST,
	JFR_MALLOC,
	JFR_FREE,
	JFR_NATIVE_ALLOCATION,
	JFR_NATIVE_MAPPING,
	JFR_RECORDING,
	JFR_JVM,
	JFR_THREAD_TIME,
	JFR_QUALITY,
	JFR_FILTER,
	JFR_FILTER_RULE,
	JFR_CLASS_FILE,
	JFR_CLASS_COUNT,
	JFR_LEDGER,
	JFR_PROBE_BUDGET,
	JFR_PROBE_STATE,
	JFR_LEDGER_READING,
	JFR_LEDGER_PART,
	JFR_LIBC_HEAP,
	JFR_BUFFERS,
	JFR_NMT_TAG,
	JFR_NATIVE_SITE,
	JFR_NATIVE_SUSPECT,
	JFR_NATIVE_CALLS,
	JFR_NATIVE_COUNT,
	JFR_VALUE,
	JFR_JAVA_AGENT,
	JFR_NATIVE_AGENT,
	JFR_CLASS_LINK,
	JFR_CLASS_INITIALIZE,
	JFR_HEAP_CLASS,
	JFR_TOTAL,
	JFR_OFF_CPU,
	JFR_OWN_EVENT_END,

	/* What fields are made of. */
	JFR_TYPE_FIRST = 128,
	JFR_BOOLEAN = JFR_TYPE_FIRST,
	JFR_BYTE,
	JFR_CHAR,
	JFR_DOUBLE,
	JFR_FLOAT,
	JFR_INT,
	JFR_LONG,
	JFR_SHORT,
	JFR_STRING,
	JFR_CLASS,
	JFR_THREAD,
	JFR_BYTECODE,
	JFR_CLASS_LOADER,
	JFR_COMPILER_PHASE_TYPE,
	JFR_COMPILER_TYPE,
	JFR_DEOPTIMIZATION_ACTION,
	JFR_DEOPTIMIZATION_REASON,
	JFR_FLAG_VALUE_ORIGIN,
	JFR_FRAME_TYPE,
	JFR_GC_CAUSE,
	JFR_GC_NAME,
	JFR_GC_WHEN,
	JFR_INFLATE_CAUSE,
	JFR_METASPACE_SIZES,
	JFR_METHOD,
	JFR_MODULE,
	JFR_NMT_TYPE,
	JFR_NARROW_OOP_MODE,
	JFR_NETWORK_INTERFACE_NAME,
	JFR_OLD_OBJECT,
	JFR_OLD_OBJECT_ARRAY,
	JFR_OLD_OBJECT_FIELD,
	JFR_OLD_OBJECT_GC_ROOT,
	JFR_OLD_OBJECT_ROOT_SYSTEM,
	JFR_OLD_OBJECT_ROOT_TYPE,
	JFR_PACKAGE,
	JFR_REFERENCE,
	JFR_REFERENCE_TYPE,
	JFR_STACK_FRAME,
	JFR_STACK_TRACE,
	JFR_SYMBOL,
	JFR_THREAD_GROUP,
	JFR_THREAD_STATE,
	JFR_VM_OPERATION_TYPE,
	JFR_VIRTUAL_SPACE,
	JFR_SOURCE_FILE,
	JFR_STACK_STATE,
	JFR_NAME,
	JFR_INNER_FRAMES,
	JFR_TYPE_END,

	/* Annotations: only the writer of metadata knows them. */
	JFR_ANNOTATION_FIRST = 192,

	/* Events of the JDK that are written once a second at most, and one of ours. */
	JFR_RARE_FIRST = 216,
	JFR_COMPILER_STATISTICS = JFR_RARE_FIRST,
	JFR_GC_HEAP_MEMORY_USAGE,
	JFR_GC_HEAP_MEMORY_POOL_USAGE,
	JFR_SWAP_SPACE,
	JFR_BOOLEAN_FLAG,
	JFR_INT_FLAG,
	JFR_UNSIGNED_INT_FLAG,
	JFR_LONG_FLAG,
	JFR_UNSIGNED_LONG_FLAG,
	JFR_DOUBLE_FLAG,
	JFR_STRING_FLAG,
	JFR_COMPILER_CONFIGURATION,
	JFR_CODE_CACHE_CONFIGURATION,
	JFR_GC_TLAB_CONFIGURATION,
	JFR_GC_SURVIVOR_CONFIGURATION,
	JFR_YOUNG_GENERATION_CONFIGURATION,
	JFR_SETTING, /* ours */
	JFR_RARE_END,

	/* What the VM does by itself, which is seldom: model/gc.h. */
	JFR_VM_EVENT_FIRST = 236,
	JFR_GARBAGE_COLLECTION = JFR_VM_EVENT_FIRST,
	JFR_YOUNG_GARBAGE_COLLECTION,
	JFR_OLD_GARBAGE_COLLECTION,
	JFR_GC_PHASE_PAUSE, /* of level 0, and behind it those of 1 to 4 */
	JFR_GC_PHASE_PAUSE_LEVEL1,
	JFR_GC_PHASE_PAUSE_LEVEL2,
	JFR_GC_PHASE_PAUSE_LEVEL3,
	JFR_GC_PHASE_PAUSE_LEVEL4,
	JFR_GC_PHASE_CONCURRENT, /* of level 0, and behind it those of 1 and 2 */
	JFR_GC_PHASE_CONCURRENT_LEVEL1,
	JFR_GC_PHASE_CONCURRENT_LEVEL2,
	JFR_GC_HEAP_SUMMARY,
	JFR_METASPACE_SUMMARY,
	JFR_SAFEPOINT_BEGIN,
	JFR_SAFEPOINT_END,
	JFR_SAFEPOINT_STATE_SYNCHRONIZATION,
	JFR_EXECUTE_VM_OPERATION,
	JFR_VM_COUNT,
	JFR_STRAGGLER,
	JFR_VM_EVENT_END,

	/* Events of the JDK that are declared only, in the order of their table. */
	JFR_DECLARED_FIRST = 256,
	JFR_DECLARED_END = JFR_DECLARED_FIRST + 33,
};

/* What a number means, as annotations of its field say. */
enum jfr_unit {
	JFR_UNIT_NONE,
	JFR_UNIT_TICKS_AT, /* a point in time, in ticks of the chunk's clock */
	JFR_UNIT_MS_AT,	   /* since the epoch; the JDK knows no other unit of such times */
	JFR_UNIT_TICKS,	   /* a time span */
	JFR_UNIT_NS,
	JFR_UNIT_US,
	JFR_UNIT_MS,
	JFR_UNIT_BYTES,
	JFR_UNIT_ADDRESS,
	JFR_UNIT_UNSIGNED,
	JFR_UNIT_PERCENT, /* 0..1 */
	JFR_UNIT_HZ,
	JFR_UNIT_NR,
};

struct jfr_field {
	const char *name;
	const char *label; /* NULL: none */
	enum jfr_type_id type;
	enum jfr_unit unit;
};

/* Bits of jfr_type.flags. */
enum jfr_flag {
	/*
	 * An event begins with these fields, in this order and not listed: startTime (always), then
	 * duration, eventThread, stackTrace.
	 */
	JFR_DURATION = 1,
	JFR_EVENT_THREAD = 2,
	JFR_EVENT_STACK = 4,

	JFR_POOL = 8,	   /* a constant: fields of this type hold an id */
	JFR_SIMPLE = 16,   /* one field, whose value stands for the whole */
	JFR_IN_ARRAY = 32, /* fields of this type hold a count and as many values in place */
};

struct jfr_type {
	const char *name;
	const char *label;    /* NULL: none */
	const char *category; /* "Java Virtual Machine/Profiling"; NULL: not an event */
	unsigned int flags;   /* enum jfr_flag, or-ed */
	const struct jfr_field *fields;
	size_t field_count;
};

/* NULL for a number that is no type. */
const struct jfr_type *jfr_type(unsigned int id);

/* The id of a type's name, -1 when it is not in the table. */
int jfr_type_find(const char *name);

/* ---- constants whose ids are fixed, so that they mean the same in every file */

/* jdk.types.FrameType. async-profiler's readers go by number, those of the JDK by name. */
enum jfr_frame_type {
	JFR_FRAME_INTERPRETED,
	JFR_FRAME_JIT,
	JFR_FRAME_INLINED,
	JFR_FRAME_NATIVE, /* a native Java method, or stubs and marks */
	JFR_FRAME_CPP,
	JFR_FRAME_KERNEL,
	JFR_FRAME_C1,
	JFR_FRAME_NR,
};
const char *jfr_frame_type_name(enum jfr_frame_type type);

/* jdk.types.ThreadState. For async-profiler's readers "default" is on a CPU. */
enum jfr_thread_state {
	JFR_STATE_DEFAULT,
	JFR_STATE_RUNNABLE,
	JFR_STATE_SLEEPING,
	JFR_STATE_NR,
};
const char *jfr_thread_state_name(enum jfr_thread_state state);

/* Descriptors of frames that are no Java methods; they need one with parentheses. */
#define JFR_DESCRIPTOR_NATIVE  "()L;"
#define JFR_DESCRIPTOR_KERNEL  "(Lk;)L;"
#define JFR_DESCRIPTOR_UNKNOWN "()Lj;" /* of a Java method whose signature is not known */

#endif
