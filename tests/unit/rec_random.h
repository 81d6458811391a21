/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_REC_RANDOM_H
#define JVMSCOPE_REC_RANDOM_H

#include <stdint.h>
#include <string.h>

#include "model/native.h"
#include "model/recording.h"

/* A random recording such as may come from a JVM; the same seed gives the same one. */

struct rec_random {
	uint64_t state;
	struct recording *rec;
};

static inline uint32_t random_below(struct rec_random *r, uint32_t bound)
{
	r->state = r->state * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)((r->state >> 33) * bound >> 31);
}

static inline uint32_t random_text(struct rec_random *r, const char *text)
{
	return *text ? rec_string(r->rec, text, strlen(text)) : 0;
}

#define RANDOM_OF(r, array) ((array)[random_below((r), sizeof(array) / sizeof((array)[0]))])

static inline uint32_t random_java_method(struct rec_random *r)
{
	static const struct {
		const char *normal, *raw;
	} classes[] = {
		{ "Main", "" },
		{ "com.example.Foo", "" },
		{ "com.example.Foo$Bar", "" },
		{ "com.example.Foo$$Lambda", "com.example.Foo$$Lambda/0x00007f0000001234" },
		{ "com.example.Foo$$Lambda", "com.example.Foo$$Lambda/0x00007f0000005678" },
		{ "\xed\x95\x9c\xea\xb8\x80.\xed\x81\xb4\xeb\x9e\x98\xec\x8a\xa4", "" },
		{ "java.lang.invoke.LambdaForm$MH",
		  "java.lang.invoke.LambdaForm$MH/0x0000000800c03000" },
	};
	static const char *const names[] = { "run", "<init>", "lambda$main$0", "\xea\xb3\x84" };
	static const char *const signatures[] = { "()V", "(I)I", "([Ljava/lang/String;)V", "" };
	static const char *const files[] = { "Foo.java", "", "" };
	uint32_t class = random_below(r, sizeof(classes) / sizeof(classes[0]));
	struct rec_method method = {
		.class_name = random_text(r, classes[class].normal),
		.name = random_text(r, RANDOM_OF(r, names)),
		.signature = random_text(r, RANDOM_OF(r, signatures)),
		.file = random_text(r, RANDOM_OF(r, files)),
		.raw_class = random_text(r, classes[class].raw),
	};

	return rec_method(r->rec, &method);
}

static inline uint32_t random_native_method(struct rec_random *r, const char *module, bool named)
{
	static const char *const names[] = { "os::malloc", "start_thread", "clone3", "~Foo",
					     "a b" };
	struct rec_method method = {
		.name = named ? random_text(r, RANDOM_OF(r, names)) : 0,
		.module = random_text(r, module),
	};

	return rec_method(r->rec, &method);
}

static inline uint32_t random_frame(struct rec_random *r)
{
	static const char *const modules[] = { "libjvm.so", "libc.so.6", "[vdso]" };
	struct rec_frame frame = {
		.kind = (enum rec_frame_kind)random_below(r, REC_FRAME_KIND_NR),
		.line = -1,
		.bci = -1,
	};
	bool named = random_below(r, 4);

	if (frame.kind == REC_FRAME_STUB) {
		frame.method = random_native_method(r, "", true);
	} else if (frame.kind == REC_FRAME_KERNEL || frame.kind == REC_FRAME_CPP) {
		frame.method = random_native_method(
			r, frame.kind == REC_FRAME_KERNEL ? "[kernel]" : RANDOM_OF(r, modules),
			named);
		frame.offset = named ? 0 : random_below(r, 1u << 30);
	} else {
		frame.method = random_java_method(r);
		frame.line = random_below(r, 3) ? (int32_t)random_below(r, 70000) + 1 : -1;
		frame.bci = (int32_t)random_below(r, 300);
	}
	if (frame.kind == REC_FRAME_NATIVE)
		frame.line = -2, frame.bci = -1;
	return rec_frame(r->rec, &frame);
}

static inline uint32_t random_stack(struct rec_random *r)
{
	uint32_t frames[128];
	uint32_t count = 1 + random_below(r, random_below(r, 10) ? 12 : 128);

	for (uint32_t i = 0; i < count; i++)
		frames[i] = random_frame(r);
	return rec_stack(r->rec, frames, count, (enum rec_stack_state)random_below(r, 3));
}

static inline void random_thread(struct rec_random *r, uint32_t jvm, pid_t tid)
{
	static const char *const names[] = { "main", "C2 CompilerThread0",
					     "\xec\x9d\xb4\xeb\xa6\x84", "\xf0\x9d\x95\x81 x" };
	static const char *const groups[] = { "java", "gc", "jit", "vm", "native" };
	struct rec_thread *thread = rec_thread_get(r->rec, rec_thread(r->rec, jvm, tid));

	thread->name = random_text(r, RANDOM_OF(r, names));
	thread->group = random_text(r, RANDOM_OF(r, groups));
	thread->cpu_ns = random_below(r, 1u << 30);
	for (int state = 0; state < REC_STATE_NR; state++)
		thread->state_ns[state] = random_below(r, 1u << 30);
}

static inline void random_jvm(struct rec_random *r, pid_t pid)
{
	struct rec_jvm jvm = {
		.pid = pid,
		.container_pid = random_below(r, 2) ? 1 : 0,
		.major = 8 + (int)random_below(r, 20),
		.start_time_ns = 1700000000000000000ull + random_below(r, 1u << 30),
		.version = random_text(r, "17.0.1+12"),
		.gc_name = random_text(r, random_below(r, 2) ? "G1" : "ZGC"),
		.main_class = random_text(r, random_below(r, 2) ? "com.example.Main" : ""),
		.arguments = random_text(r, "-Xmx1g -Da=\"b c\""),
		.container_id = random_text(r, random_below(r, 2) ? "0123456789ab" : ""),
	};

	rec_jvm(r->rec, &jvm);
}

static inline void random_meta(struct rec_random *r)
{
	static const uint32_t rates[] = { 100, 1000, 250, 10000 };
	struct rec_meta *meta = rec_meta(r->rec);

	*meta = (struct rec_meta){
		.start_time_ns = 1700000000000000000 + random_below(r, 1u << 30),
		.frequency_hz = RANDOM_OF(r, rates),
		.achieved_hz = random_below(r, 100000) / 8.0,
		.seen = random_below(r, 1u << 30),
		.target_cpu_ns = random_below(r, 1u << 30),
		.own_cpu_ns = random_below(r, 1u << 30),
		.own_rss_bytes = random_below(r, 1u << 30),
		.own_map_bytes = random_below(r, 1u << 30),
		.bpf_ns = random_below(r, 1u << 30),
		.max_depth = random_below(r, 20000),
		.tool_version = random_text(r, "0.1.0"),
		.host_name = random_text(r, "host"),
		.kernel_release = random_text(r, "6.1.0"),
		.machine = random_text(r, "x86_64"),
		.clock = random_text(r, random_below(r, 2) ? "cycles" : "cpu-clock"),
		.events = random_text(r, "cpu"),
		.cpus = 1 + random_below(r, 64),
	};
	meta->end_time_ns = meta->start_time_ns + 1 + random_below(r, 1u << 30);
}

static inline void random_quality(struct rec_random *r)
{
	static const char *const names[] = { "max_depth", "no_row", "ring_full", "bad" };

	rec_quality_add(r->rec, REC_QUALITY_COMPLETE, "", random_below(r, 1000));
	for (int i = 0; i < 6; i++)
		rec_quality_add(r->rec, (enum rec_quality_group)(1 + random_below(r, 4)),
				RANDOM_OF(r, names), random_below(r, 100));
}

/* A site of native memory; not all of it lives. */
static inline void random_native(struct rec_random *r, uint32_t jvm)
{
	static const char *const tags[] = { "Other", "Arena Chunk", "libc", "" };
	struct rec_key key = { .metric = REC_NATIVE_ALLOC,
			       .jvm = jvm,
			       .stack = random_stack(r),
			       .label = random_text(r, RANDOM_OF(r, tags)) };
	int64_t count = 1 + random_below(r, 1000), live = random_below(r, (uint32_t)count);

	rec_add(r->rec, &key, count, count * 24);
	key.metric = REC_NATIVE_LIVE;
	/* Where it is not known it is told by nobody. */
	if (live && rec_native_live_known(r->rec, jvm))
		rec_add(r->rec, &key, live, live * 24);
	key.metric = (enum rec_metric)(REC_VM_RESERVED + random_below(r, 3));
	if (rec_mapped_known(r->rec, jvm))
		rec_add(r->rec, &key, 1 + live, (1 + live) * 4096);
}

#include "unit/rec_random_events.h"
#include "unit/rec_random_gc.h"
#include "unit/rec_random_heap.h"
#include "unit/rec_random_memory.h"

/* with_rows: a row for each sample besides the totals. */
static inline struct recording *random_recording(uint64_t seed, bool with_rows)
{
	struct rec_random r = { .state = seed, .rec = rec_new() };
	uint32_t jvms = 1 + random_below(&r, 3), rows = random_below(&r, 300);
	int64_t period;

	rec_samples_keep(r.rec, with_rows);
	random_meta(&r);
	period = 1000000000 / (int64_t)rec_meta(r.rec)->frequency_hz;
	for (uint32_t jvm = 1; jvm <= jvms; jvm++) {
		random_jvm(&r, (pid_t)(1000 * jvm));
		for (pid_t tid = 0; tid < 5; tid++)
			random_thread(&r, jvm, (pid_t)(1000 * jvm) + tid);
	}
	for (uint32_t i = 0; i < rows; i++) {
		struct rec_key key = { .metric = REC_CPU, .stack = random_stack(&r) };
		int64_t count = with_rows ? 1 : 1 + random_below(&r, 5);
		struct rec_sample sample;

		key.thread = 1 + random_below(&r, rec_thread_count(r.rec));
		key.jvm = rec_thread_get(r.rec, key.thread)->jvm;
		rec_add(r.rec, &key, count, count * period);
		sample = (struct rec_sample){ .time_ns = rec_meta(r.rec)->start_time_ns + i,
					      .key = key,
					      .state = REC_STATE_IN_JAVA,
					      .value = period };
		rec_sample(r.rec, &sample);
	}
	for (uint32_t i = random_below(&r, 100); i; i--)
		random_object(&r, 1 + random_below(&r, jvms), with_rows);
	random_events(&r, with_rows);
	/* Rows of ledgers are there in any case. */
	rec_samples_keep(r.rec, true);
	for (uint32_t jvm = 1; jvm <= jvms; jvm++) {
		random_memory(&r, jvm);
		random_gc(&r, jvm);
	}
	rec_samples_keep(r.rec, with_rows);
	for (uint32_t i = random_below(&r, 20); i; i--)
		random_native(&r, 1 + random_below(&r, jvms));
	random_quality(&r);
	return r.rec;
}

#endif
