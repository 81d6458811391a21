/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_GOLDEN_RECORDING_H
#define JVMSCOPE_GOLDEN_RECORDING_H

#include <stdlib.h>
#include <string.h>

#include "model/filter.h"
#include "trie/trie_rules.h"
#include "unit/unit.h"

/*
 * A fixed recording with one of everything, and the comparison of what an exporter makes of it
 * with a file of this folder. JVMSCOPE_GOLDEN=update in the environment writes the files anew.
 */

static uint32_t golden_string(struct recording *rec, const char *text)
{
	return *text ? rec_string(rec, text, strlen(text)) : 0;
}

static void golden_meta(struct recording *rec)
{
	*rec_meta(rec) = (struct rec_meta){
		.start_time_ns = 1700000000000000000,
		.end_time_ns = 1700000010500000000,
		.frequency_hz = 99,
		.achieved_hz = 98.7654321,
		.seen = 21,
		.target_cpu_ns = 212000000,
		.own_cpu_ns = 1500000,
		.own_rss_bytes = 41943040,
		.own_map_bytes = 16777216,
		.bpf_ns = 170000,
		.max_depth = 1024,
		.tool_version = golden_string(rec, "0.1.0"),
		.host_name = golden_string(rec, "host"),
		.kernel_release = golden_string(rec, "6.1.0"),
		.machine = golden_string(rec, "x86_64"),
		.clock = golden_string(rec, "cpu-clock"),
		.events = golden_string(rec, "cpu,native"),
		.cpus = 4,
	};
	rec_quality_set(rec, REC_QUALITY_COMPLETE, "", 12);
	rec_quality_set(rec, REC_QUALITY_TRUNCATED_BY, "max-depth", 2);
	rec_quality_set(rec, REC_QUALITY_BROKEN_BY, "no-unwind-row", 4);
	rec_quality_set(rec, REC_QUALITY_BROKEN_BY, "bad-read", 0);
	rec_quality_set(rec, REC_QUALITY_LOST, "ring-full", 2);
	rec_quality_set(rec, REC_QUALITY_LOST, "slot-busy", 1);
	rec_quality_set(rec, REC_QUALITY_INFO, "deopt", 1);
}

static void golden_jvms(struct recording *rec)
{
	struct rec_jvm host = {
		.pid = 4242,
		.major = 17,
		.start_time_ns = 1699999999000000000,
		.version = golden_string(rec, "17.0.9+9"),
		.gc_name = golden_string(rec, "G1"),
		.main_class = golden_string(rec, "com.example.Main"),
		.arguments = golden_string(rec, "-Xmx64m -Dquote=\"a\\b\""),
	};
	struct rec_jvm contained = {
		.pid = 5000,
		.container_pid = 1,
		.major = 25,
		.version = golden_string(rec, "25+36"),
		.container_id = golden_string(rec, "0123456789ab"),
		.pod_uid = golden_string(rec, "11111111-2222-3333-4444-555555555555"),
	};

	rec_jvm(rec, &host);
	rec_jvm(rec, &contained);
}

static void golden_thread(struct recording *rec, uint32_t jvm, pid_t tid, const char *name)
{
	struct rec_thread *thread = rec_thread_get(rec, rec_thread(rec, jvm, tid));

	thread->name = golden_string(rec, name);
	thread->group = golden_string(rec, "java");
	thread->cpu_ns = (uint64_t)tid * 1000;
	thread->state_ns[REC_STATE_IN_JAVA] = (uint64_t)tid * 900;
	thread->state_ns[REC_STATE_BLOCKED] = (uint64_t)tid * 100;
}

struct golden_frame {
	const char *class_name, *name, *signature, *file, *raw_class, *module;
	struct rec_frame frame; /* without its method */
};

static uint32_t golden_frame(struct recording *rec, const struct golden_frame *from)
{
	struct rec_method method = {
		.class_name = golden_string(rec, from->class_name),
		.name = golden_string(rec, from->name),
		.signature = golden_string(rec, from->signature),
		.file = golden_string(rec, from->file),
		.raw_class = golden_string(rec, from->raw_class),
		.module = golden_string(rec, from->module),
	};
	struct rec_frame frame = from->frame;

	frame.method = rec_method(rec, &method);
	return rec_frame(rec, &frame);
}

enum {
	GOLDEN_START,
	GOLDEN_MAIN,
	GOLDEN_LAMBDA_1,
	GOLDEN_LAMBDA_2,
	GOLDEN_HOT,
	GOLDEN_INLINED,
	GOLDEN_NATIVE,
	GOLDEN_STUB,
	GOLDEN_MALLOC,
	GOLDEN_UNNAMED,
	GOLDEN_UNKNOWN,
	GOLDEN_KERNEL,
	GOLDEN_ODD,
	GOLDEN_CUT,
	GOLDEN_FRAMES,
};

static void golden_frames(struct recording *rec, uint32_t ids[GOLDEN_FRAMES])
{
	static const struct golden_frame frames[GOLDEN_FRAMES] = {
		[GOLDEN_START] = { "",
				   "start_thread",
				   "",
				   "",
				   "",
				   "libc.so.6",
				   { .kind = REC_FRAME_CPP, .line = -1, .bci = -1 } },
		[GOLDEN_MAIN] = { "com.example.Main",
				  "main",
				  "([Ljava/lang/String;)V",
				  "Main.java",
				  "",
				  "",
				  { .kind = REC_FRAME_INTERPRETED, .line = 12, .bci = 34 } },
		[GOLDEN_LAMBDA_1] = { "com.example.Main$$Lambda",
				      "run",
				      "()V",
				      "",
				      "com.example.Main$$Lambda/0x00007f0001",
				      "",
				      { .kind = REC_FRAME_C1, .line = -1, .bci = 4 } },
		[GOLDEN_LAMBDA_2] = { "com.example.Main$$Lambda",
				      "run",
				      "()V",
				      "",
				      "com.example.Main$$Lambda/0x00007f0002",
				      "",
				      { .kind = REC_FRAME_C1, .line = -1, .bci = 4 } },
		[GOLDEN_HOT] = { "com.example.Main",
				 "hot",
				 "(I)I",
				 "Main.java",
				 "",
				 "",
				 { .kind = REC_FRAME_C2, .line = 20, .bci = 8 } },
		[GOLDEN_INLINED] = { "java.lang.Math",
				     "max",
				     "(II)I",
				     "Math.java",
				     "",
				     "",
				     { .kind = REC_FRAME_INLINED, .line = 2027, .bci = 1 } },
		[GOLDEN_NATIVE] = { "java.lang.Object",
				    "wait0",
				    "(J)V",
				    "Object.java",
				    "",
				    "",
				    { .kind = REC_FRAME_NATIVE, .line = -2, .bci = -1 } },
		[GOLDEN_STUB] = { "",
				  "StubRoutines (1)",
				  "",
				  "",
				  "",
				  "",
				  { .kind = REC_FRAME_STUB, .line = -1, .bci = -1 } },
		[GOLDEN_MALLOC] = { "",
				    "os::malloc(unsigned long, MEMFLAGS)",
				    "",
				    "",
				    "",
				    "libjvm.so",
				    { .kind = REC_FRAME_CPP, .line = -1, .bci = -1 } },
		[GOLDEN_UNNAMED] = { "",
				     "",
				     "",
				     "",
				     "",
				     "libfoo.so",
				     { 0, REC_FRAME_CPP, -1, -1, 0x1234 } },
		[GOLDEN_UNKNOWN] = { "",
				     "",
				     "",
				     "",
				     "",
				     "",
				     { 0, REC_FRAME_CPP, -1, -1, 0xffff800000001000 } },
		[GOLDEN_KERNEL] = { "",
				    "do_syscall_64",
				    "",
				    "",
				    "",
				    "[kernel]",
				    { .kind = REC_FRAME_KERNEL, .line = -1, .bci = -1 } },
		[GOLDEN_ODD] = { "com.example.\xed\x95\x9c\xea\xb8\x80",
				 "a;b\n\xed\xa0\xbd\xed\xb8\x80\xe2\x82",
				 "()V",
				 "\"</script>",
				 "",
				 "",
				 { .kind = REC_FRAME_C2, .line = 0, .bci = 0 } },
		[GOLDEN_CUT] = { "",
				 "[truncated]",
				 "",
				 "",
				 "",
				 "",
				 { .kind = REC_FRAME_STUB, .line = -1, .bci = -1 } },
	};

	for (int i = 0; i < GOLDEN_FRAMES; i++)
		ids[i] = golden_frame(rec, &frames[i]);
}

struct golden_sample {
	uint32_t jvm;
	pid_t tid;
	const char *label;
	int64_t count;
	enum rec_stack_state state;
	uint8_t depth;
	uint8_t frames[8]; /* leaf first */
};

static void golden_samples(struct recording *rec, const uint32_t ids[GOLDEN_FRAMES])
{
	static const struct golden_sample samples[] = {
		{ 1,
		  4243,
		  "",
		  5,
		  REC_STACK_COMPLETE,
		  3,
		  { GOLDEN_HOT, GOLDEN_MAIN, GOLDEN_START } },
		{ 2, 1, "", 1, REC_STACK_COMPLETE, 2, { GOLDEN_KERNEL, GOLDEN_START } },
		{ 1,
		  4244,
		  "",
		  2,
		  REC_STACK_COMPLETE,
		  3,
		  { GOLDEN_HOT, GOLDEN_MAIN, GOLDEN_START } },
		{ 1,
		  4243,
		  "",
		  1,
		  REC_STACK_COMPLETE,
		  4,
		  { GOLDEN_INLINED, GOLDEN_LAMBDA_1, GOLDEN_MAIN, GOLDEN_START } },
		{ 1,
		  4243,
		  "",
		  1,
		  REC_STACK_COMPLETE,
		  4,
		  { GOLDEN_INLINED, GOLDEN_LAMBDA_2, GOLDEN_MAIN, GOLDEN_START } },
		{ 1, 4243, "", 1, REC_STACK_COMPLETE, 2, { GOLDEN_MAIN, GOLDEN_START } },
		{ 1,
		  4245,
		  "",
		  1,
		  REC_STACK_COMPLETE,
		  5,
		  { GOLDEN_MALLOC, GOLDEN_UNNAMED, GOLDEN_NATIVE, GOLDEN_MAIN, GOLDEN_START } },
		{ 1,
		  4246,
		  "",
		  2,
		  REC_STACK_TRUNCATED,
		  5,
		  { GOLDEN_HOT, GOLDEN_STUB, GOLDEN_CUT, GOLDEN_MAIN, GOLDEN_START } },
		{ 1,
		  4247,
		  "java.lang.String",
		  1,
		  REC_STACK_BROKEN,
		  2,
		  { GOLDEN_ODD, GOLDEN_UNKNOWN } },
		{ 1, 4247, "", 3, REC_STACK_BROKEN, 0, { 0 } },
	};

	for (size_t i = 0; i < ARRAY_SIZE(samples); i++) {
		const struct golden_sample *from = &samples[i];
		uint32_t frames[8];
		struct rec_key key = {
			.metric = REC_CPU,
			.jvm = from->jvm,
			.thread = rec_thread(rec, from->jvm, from->tid),
			.label = golden_string(rec, from->label),
		};

		for (int n = 0; n < from->depth; n++)
			frames[n] = ids[from->frames[n]];
		key.stack = rec_stack(rec, frames, from->depth, from->state);
		rec_add(rec, &key, from->count, from->count * 10101010);
	}
}

/* Applies some rules: an exact one for application code, and prefixes. */
static inline void golden_filter(struct recording *rec, enum filter_mode mode)
{
	static const char rules[] = "7 java.*\n1 com.example.*\n0 com.example.Main\n2 unused.*\n";
	struct filter filter = { .rec = rec, .mode = mode };
	struct trie_words words;

	ASSERT_INT(trie_from_text(rules, sizeof(rules) - 1, &words, NULL, NULL), 0);
	filter.trie = trie_of(&words);
	ASSERT_INT(filter_apply(&filter, "rules.trie"), 0);
	filter_free(&filter);
	trie_words_free(&words);
}

static struct recording *golden_recording(void)
{
	struct recording *rec = rec_new();
	uint32_t ids[GOLDEN_FRAMES];

	CU_ASSERT_PTR_NOT_NULL_FATAL(rec);
	golden_meta(rec);
	golden_jvms(rec);
	golden_thread(rec, 1, 4243, "main");
	golden_thread(rec, 1, 4244, "sp ace;semi\ttab");
	golden_thread(rec, 1, 4245, "");
	golden_thread(rec, 1, 4246, "  ");
	golden_thread(rec, 1, 4247, "cut\xea\xb0");
	golden_thread(rec, 2, 1, "<b id=x>\\\"");
	golden_frames(rec, ids);
	golden_samples(rec, ids);
	ASSERT_INT(rec_error(rec), 0);
	return rec;
}

/* Whether bytes are those of the file. name is in this folder; tests run in the root of the tree.
 */
static inline void golden_compare(const char *name, const char *bytes, size_t size)
{
	const char *mode = getenv("JVMSCOPE_GOLDEN");
	bool update = mode && !strcmp(mode, "update");
	char path[128];
	char *expected = malloc(size + 1);
	size_t expected_size;
	FILE *file;

	snprintf(path, sizeof(path), "tests/golden/%s", name);
	file = fopen(path, update ? "w+e" : "re");
	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	CU_ASSERT_PTR_NOT_NULL_FATAL(expected);
	if (update) {
		fwrite(bytes, 1, size, file);
		rewind(file);
	}
	expected_size = fread(expected, 1, size + 1, file);
	fclose(file);
	if (expected_size != size || memcmp(expected, bytes, size) != 0)
		fprintf(stderr, "%s: not what the exporter wrote, which is:\n%.*s", path, (int)size,
			bytes);
	ASSERT_INT(expected_size, size);
	ASSERT_INT(memcmp(expected, bytes, size), 0);
	free(expected);
}

#endif
