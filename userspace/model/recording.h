/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_RECORDING_H
#define JVMSCOPE_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * The recording: what was observed, from BPF or from a file, and nothing about how.
 *
 * Tables of names (strings, methods, frames, stacks, threads, jvms) that refer to each other by
 * 32-bit ids; 0 means none. Facts refer to names by id. There are no pointers between tables.
 *
 * Adding never fails towards the caller: an allocation that failed is remembered and reported
 * once by rec_error(), as ferror() does for a stream. Beyond a table's maximum everything falls
 * into one entry called "(truncated)" and rec_quality counts it.
 *
 * Times are nanoseconds since the epoch, sizes bytes.
 */
struct recording;

/* Maxima of one recording. */
#define REC_MAX_STRING_BYTES (256u << 20)
#define REC_MAX_METHODS	     (1u << 20)
#define REC_MAX_FRAMES	     (4u << 20)
#define REC_MAX_STACKS	     (2u << 20)
#define REC_MAX_STACK_FRAMES (16u << 20) /* of all stacks together */
#define REC_MAX_JVMS	     (1u << 16)
#define REC_MAX_THREADS	     (1u << 20)
#define REC_MAX_TOTALS	     (4u << 20)
#define REC_MAX_QUALITY_ROWS 1024
#define REC_MAX_SAMPLES	     (1u << 22)

struct recording *rec_new(void); /* NULL when memory is out */
void rec_free(struct recording *rec);
int rec_error(const struct recording *rec); /* 0 or -ENOMEM */

/* ---- strings */

/* text must not point into the recording: the add may move it. The same holds for rec_stack(). */
uint32_t rec_string(struct recording *rec, const char *text, size_t len);
const char *rec_text(const struct recording *rec,
		     uint32_t string);			/* "" for 0; valid until the next add */
uint32_t rec_string_count(const struct recording *rec); /* ids are 1..count */

/* ---- methods and frames */

/* How a frame ran. The names are those of "frames" in JSON; rec_kind_name() has them. */
enum rec_frame_kind {
	REC_FRAME_INTERPRETED,
	REC_FRAME_C1,
	REC_FRAME_C2,
	REC_FRAME_INLINED,
	REC_FRAME_NATIVE, /* a native Java method */
	REC_FRAME_KERNEL,
	REC_FRAME_STUB, /* VM-generated code, and marks such as "[frames in heap]" */
	REC_FRAME_CPP,	/* native code: libjvm, libc, JNI libraries */
	REC_FRAME_KIND_NR,
};
const char *rec_kind_name(enum rec_frame_kind kind);
bool rec_kind_is_java(enum rec_frame_kind kind); /* interpreted, c1, c2, inlined, native */

/* String ids. Java names with dots. */
struct rec_method {
	uint32_t class_name; /* normalised: "com.example.Foo$$Lambda"; 0 for other than Java */
	uint32_t name;	     /* method; or function, stub, mark */
	uint32_t signature;  /* "(I)V" */
	uint32_t file;	     /* "Foo.java"; 0 unknown */
	uint32_t raw_class;  /* as the JVM has it, when it differs: "com.example.Foo$$Lambda/0x7f01"
			      */
	uint32_t module;     /* "libjvm.so", "[kernel]"; 0 for Java */
};

struct rec_frame {
	uint32_t method;
	enum rec_frame_kind kind;
	int32_t line;	 /* -1 unknown, -2 native method */
	int32_t bci;	 /* -1 none */
	uint64_t offset; /* native code without a symbol: ELF address in the module, else 0 */
};

uint32_t rec_method(struct recording *rec, const struct rec_method *method);
uint32_t rec_frame(struct recording *rec, const struct rec_frame *frame);
/* Names a frame that was added by its address alone, with method, and forgets the address. */
void rec_frame_name(struct recording *rec, uint32_t id, uint32_t method);
const struct rec_method *rec_method_get(const struct recording *rec,
					uint32_t id); /* zeroed for 0 */
const struct rec_frame *rec_frame_get(const struct recording *rec, uint32_t id);
uint32_t rec_method_count(const struct recording *rec); /* ids are 1..count, as everywhere */
uint32_t rec_frame_count(const struct recording *rec);

/* "com.example.Foo.bar", "os::malloc", "libfoo.so+0x1234": what a flame graph prints. Returns to.
 */
const char *rec_method_text(const struct recording *rec, uint32_t id, char *to, size_t size);
/* The same of a frame: unnamed native code is module+offset. */
const char *rec_frame_text(const struct recording *rec, uint32_t id, char *to, size_t size);
/* A size that is enough for every text of the two. */
size_t rec_text_size(const struct recording *rec);

/* ---- stacks */

enum rec_stack_state { REC_STACK_COMPLETE, REC_STACK_TRUNCATED, REC_STACK_BROKEN };

struct rec_stack {
	const uint32_t *frames; /* leaf first; valid until the next add */
	uint32_t count;
	enum rec_stack_state state;
};
uint32_t rec_stack(struct recording *rec, const uint32_t *frames, size_t count,
		   enum rec_stack_state state);
struct rec_stack rec_stack_get(const struct recording *rec, uint32_t id);
uint32_t rec_stack_count(const struct recording *rec);

/* ---- counters of a JVM by name, of which classes.h and native.h have some */

struct rec_count {
	uint32_t jvm;
	uint32_t name; /* string id: "loaded", "attempts" */
	uint64_t value;
};

/* ---- class-name rules: what model/filter.h found; exporters only read it */

/* A rule that matched a class of the recording. */
struct rec_rule {
	uint32_t text;	  /* string id: "java.*" */
	uint32_t number;  /* 0 application code, above library code */
	uint64_t frames;  /* Java frames of CPU samples, each as often as it was sampled */
	uint64_t classes; /* of the recording */
};
/* Finds or adds the rule with this text and number. */
uint32_t rec_rule(struct recording *rec, uint32_t text, uint32_t number);
struct rec_rule *rec_rule_get(const struct recording *rec, uint32_t id); /* NULL for 0 */
uint32_t rec_rule_count(const struct recording *rec);

/* Says that a method was looked up: the rule of its class, 0 when none matches. */
void rec_method_rule_set(struct recording *rec, uint32_t method, uint32_t rule);
/* Whether it was; *rule is written only then. */
bool rec_method_rule(const struct recording *rec, uint32_t method, uint32_t *rule);

struct rec_filter {
	uint32_t mode; /* string id: "mark"; 0: no rules were applied */
	uint32_t trie; /* string id: the file that rules are from, or "built-in" */
	/* Java frames and classes that no rule matches; as in struct rec_rule. */
	uint64_t free_frames;
	uint64_t free_classes;
	/* CPU samples by their innermost Java frame. */
	uint64_t application;
	uint64_t library;
	uint64_t no_java;
	uint64_t with_application; /* CPU samples with an application frame anywhere */
	uint64_t dropped;	   /* CPU samples that were taken out; in the four above, too */
};
struct rec_filter *rec_filter(struct recording *rec);
const struct rec_filter *rec_filter_get(const struct recording *rec);

/* ---- JVMs and threads */

struct rec_jvm {
	pid_t pid;
	pid_t container_pid; /* 0: same as pid */
	int major;
	uint64_t start_time_ns;
	/* string ids */
	uint32_t version, gc_name, main_class, arguments, container_id, pod_uid;
};
uint32_t rec_jvm(struct recording *rec,
		 const struct rec_jvm *jvm); /* ids are 1..count; always adds */
struct rec_jvm *rec_jvm_get(const struct recording *rec, uint32_t id);
uint32_t rec_jvm_count(const struct recording *rec);

/* What a thread was doing when it was sampled. */
enum rec_thread_state {
	REC_STATE_IN_JAVA,
	REC_STATE_IN_NATIVE,
	REC_STATE_IN_VM,
	REC_STATE_BLOCKED,
	REC_STATE_VM_THREAD, /* not a Java thread: GC, VM, watcher ... */
	REC_STATE_UNKNOWN,
	REC_STATE_NR,
};
const char *rec_state_name(enum rec_thread_state state);

struct rec_thread {
	uint32_t jvm;
	pid_t tid;
	uint32_t name;			 /* comm, or the Java name where known */
	uint32_t group;			 /* "java", "gc", "jit", "vm", "native" */
	uint64_t cpu_ns;		 /* of the recorded time; by samples when it has ended */
	uint64_t state_ns[REC_STATE_NR]; /* by samples */
};
/* Finds or adds the thread (jvm, tid). Names may be set or improved through the pointer. */
uint32_t rec_thread(struct recording *rec, uint32_t jvm, pid_t tid);
struct rec_thread *rec_thread_get(const struct recording *rec, uint32_t id); /* NULL for 0 */
uint32_t rec_thread_count(const struct recording *rec);

/* ---- totals */

/* One row of the table in metrics.c each: name, unit, summed or set. */
enum rec_metric {
	REC_CPU,
	REC_NATIVE_ALLOC,
	REC_NATIVE_LIVE,
	REC_VM_RESERVED,
	REC_VM_COMMITTED,
	REC_THREAD_STACKS,
	REC_CLASS_LOAD,
	REC_LOCK_WAIT,
	REC_OBJECT_WAIT,
	REC_PARK,
	REC_EXCEPTION,
	REC_DEOPTIMIZATION,
	REC_OFFCPU,
	REC_WAKEUP,
	REC_HEAP_ALLOC,
	REC_SOCKET_READ, /* see io.h */
	REC_SOCKET_WRITE,
	REC_FILE_READ,
	REC_FILE_WRITE,
	REC_FILE_FORCE,
	REC_SOCKET_READ_BYTES,
	REC_SOCKET_WRITE_BYTES,
	REC_FILE_READ_BYTES,
	REC_FILE_WRITE_BYTES,
	REC_METRIC_NR,
};
struct rec_metric_info {
	const char *name; /* "cpu" */
	const char *unit; /* "nanoseconds" */
	const char *help;
	bool is_level;		/* set, not added */
	bool is_partly_sampled; /* as waits: some have a row of samples, some or all only the sum */
};
const struct rec_metric_info *rec_metric_info(enum rec_metric metric);
int rec_metric_find(const char *name); /* -1: there is none */

struct rec_key {
	enum rec_metric metric;
	uint32_t jvm;
	uint32_t stack;
	uint32_t thread;
	uint32_t label; /* string id: class, monitor class, tag ...; 0 none */
};
struct rec_total {
	struct rec_key key;
	int64_t count;
	int64_t value; /* in the metric's unit */
	/* Of that what rows of samples say, too; of metrics that are partly sampled. */
	int64_t sampled_count;
	int64_t sampled_value;
};
void rec_add(struct recording *rec, const struct rec_key *key, int64_t count, int64_t value);
/* A sum as rec_add() makes it: what does not fit is the nearest that does. */
int64_t rec_sum(int64_t a, int64_t b);
/*
 * A time since the epoch of a file, which may be any number, as one that the clock can have: the
 * year 2116 is the last. The difference of two, and the sum of a time and a difference, fit.
 */
#define REC_TIME_MAX ((1ll << 62) - 1)
static inline int64_t rec_time(int64_t ns)
{
	if (ns > REC_TIME_MAX)
		return REC_TIME_MAX;
	return ns < 0 ? 0 : ns;
}
/* In order of first sight. */
const struct rec_total *rec_totals(const struct recording *rec, size_t *count);

/*
 * Makes the stack of every total and sample anew. edit() may shorten it in place, with frames of
 * rec (leaf first), and says whether they stay. Totals that become equal are added up.
 *
 * Stacks, frames and methods that nothing refers to any more are forgotten, so all ids of the
 * three change: for a recording that is complete. Returns 0 or -ENOMEM, which leaves it as it was.
 */
typedef bool rec_edit_fn(uint32_t *frames, size_t *count, void *ctx);
int rec_edit_stacks(struct recording *rec, rec_edit_fn *edit, void *ctx);

/* ---- samples: one row for each event, for outputs that say when, not only how much */

struct rec_sample {
	int64_t time_ns;
	struct rec_key key;
	enum rec_thread_state state;
	int64_t value; /* in the metric's unit */
	/* of waits: the monitor, or what a parked thread is blocked by; 0: not known */
	uint64_t address;
	uint64_t timeout_ns; /* of waits: 0: there was none */
	/* Of waits: the thread that had the monitor before, or notified. 0: not known, or nobody.
	 */
	uint32_t by;
	/* Of heap_alloc: the object, and the TLAB it is the first of; 0: it is in none. */
	uint64_t object_bytes;
	uint64_t tlab_bytes;
};
/* Off at first: without an output that needs them rows are not kept. */
void rec_samples_keep(struct recording *rec, bool keep);
/* Behind rec_add(), which has the totals. Nothing when samples are not kept. */
void rec_sample(struct recording *rec, const struct rec_sample *sample);
/* In the order they were added, which is not quite that of time. */
const struct rec_sample *rec_samples(const struct recording *rec, size_t *count);
/* Forgets the rows, when they are written. */
void rec_samples_drop(struct recording *rec);

/* ---- quality: how good the recording is, in numbers */

enum rec_quality_group {
	REC_QUALITY_COMPLETE,	  /* stacks that reached the thread's root; name "" */
	REC_QUALITY_TRUNCATED_BY, /* by reason */
	REC_QUALITY_BROKEN_BY,
	REC_QUALITY_LOST, /* samples without a record, by reason */
	REC_QUALITY_INFO, /* counters that are no loss */
	REC_QUALITY_GROUP_NR,
};
struct rec_quality_row {
	enum rec_quality_group group;
	char *name; /* owned by the recording */
	uint64_t count;
};
/* Adds to, or with rec_quality_set sets, one counter. A name not seen yet makes a new row. */
void rec_quality_add(struct recording *rec, enum rec_quality_group group, const char *name,
		     uint64_t count);
void rec_quality_set(struct recording *rec, enum rec_quality_group group, const char *name,
		     uint64_t count);
const struct rec_quality_row *rec_quality_rows(const struct recording *rec, size_t *count);
uint64_t rec_quality_sum(const struct recording *rec, enum rec_quality_group group);

/* ---- the rest, one of each */

struct rec_meta {
	int64_t start_time_ns;
	int64_t end_time_ns;
	uint32_t frequency_hz;	/* asked */
	double achieved_hz;	/* samples seen per second of target CPU time */
	uint64_t seen;		/* sampling interrupts that hit a target: kept + all losses */
	uint64_t target_cpu_ns; /* CPU time of the targets while recording */
	uint64_t own_cpu_ns;	/* of jvmscope */
	uint64_t own_rss_bytes;
	uint64_t own_map_bytes; /* BPF maps */
	uint64_t bpf_ns;	/* time in our BPF programs */
	uint32_t max_depth;
	/* string ids */
	uint32_t tool_version, host_name, kernel_release, machine,
		clock /* "cpu-clock", "cycles" */, events;
	uint32_t cpus;
};
struct rec_meta *rec_meta(struct recording *rec);
const struct rec_meta *rec_meta_get(const struct recording *rec);

#endif
