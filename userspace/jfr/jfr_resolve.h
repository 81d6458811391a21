/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_JFR_RESOLVE_H
#define JVMSCOPE_JFR_RESOLVE_H

#include "base/map64.h"
#include "jfr/jfr_chunk.h"
#include "model/recording.h"

/*
 * Constants of a chunk as ids of a recording: stacks, with their frames and methods, and threads.
 * Each is made once in a chunk, when it is asked for.
 *
 * The wants below must be among those of the visitor, in this order, the first one at place 0.
 */
enum jfr_resolve_want {
	JFR_WANT_STACK,
	JFR_WANT_FRAME,
	JFR_WANT_METHOD,
	JFR_WANT_CLASS,
	JFR_WANT_FRAME_TYPE,
	JFR_WANT_SOURCE_FILE,
	JFR_WANT_STACK_STATE,
	JFR_WANT_INNER_FRAMES,
	JFR_WANT_THREAD,
	JFR_WANT_GROUP,
	JFR_WANT_STATE,
	JFR_RESOLVE_WANTS,
};
#define JFR_RESOLVE_WANT_ROWS                                                                   \
	[JFR_WANT_STACK] = { .type = "jdk.types.StackTrace",                                    \
			     .fields = { "truncated", "frames" } },                             \
	[JFR_WANT_FRAME] = { .type = "jdk.types.StackFrame",                                    \
			     .fields = { "method", "lineNumber", "bytecodeIndex", "type" } },   \
	[JFR_WANT_METHOD] = { .type = "jdk.types.Method",                                       \
			      .fields = { "type", "name", "descriptor" } },                     \
	[JFR_WANT_CLASS] = { .type = "java.lang.Class", .fields = { "name" } },                 \
	[JFR_WANT_FRAME_TYPE] = { .type = "jdk.types.FrameType", .fields = { NULL } },          \
	[JFR_WANT_SOURCE_FILE] = { .type = "jvmscope.types.SourceFile", .fields = { "file" } }, \
	[JFR_WANT_STACK_STATE] = { .type = "jvmscope.types.StackState", .fields = { NULL } },   \
	[JFR_WANT_INNER_FRAMES] = { .type = "jvmscope.types.InnerFrames",                       \
				    .fields = { "frames" } },                                   \
	[JFR_WANT_THREAD] = { .type = "java.lang.Thread",                                       \
			      .fields = { "osName", "osThreadId", "javaName", "javaThreadId",   \
					  "group", "virtual" } },                               \
	[JFR_WANT_GROUP] = { .type = "jdk.types.ThreadGroup", .fields = { "parent", "name" } }, \
	[JFR_WANT_STATE] = { .type = "jdk.types.ThreadState", .fields = { NULL } }

struct jfr_resolver {
	struct recording *rec;
	const struct jfr_chunk *chunk;
	uint32_t jvm; /* of threads whose group names no other */
	/* JVMs of the recording: the last one of a process, and of a process and its start. */
	struct map64 jvms, started;
	uint32_t jvms_known; /* that are in both */
	/* Of this chunk: ids of the file to ids of the recording. */
	struct map64 stacks;
	struct map64 methods;
	struct map64 threads;
	struct map64 types;
	struct map64 frame_types; /* to enum jfr_frame_type + 1, 0 another one */
	uint32_t *frames;	  /* owned; of one stack */
	size_t frame_capacity;
	struct strbuf text, normal, raw;
	uint64_t
		names_cut; /* of methods, classes and threads, so far: longer than a strbuf takes */
	int err;	   /* -ENOMEM */
};

/* Begins with another chunk. */
void jfr_resolve_chunk(struct jfr_resolver *r, const struct jfr_chunk *chunk);

/* The last JVM of the recording with this pid; 0 when there is none. */
uint32_t jfr_resolve_jvm(struct jfr_resolver *r, int64_t pid);

/* The last one with this pid that started in the same millisecond. */
uint32_t jfr_resolve_same_jvm(struct jfr_resolver *r, const struct rec_jvm *jvm);

/* 0 when there is no stack, or none with frames. */
uint32_t jfr_resolve_stack(struct jfr_resolver *r, int64_t id);

/* 0 when the method is not known. */
uint32_t jfr_resolve_method(struct jfr_resolver *r, int64_t id);

/* 0 when the thread is not known. Sets its name and group, too. */
uint32_t jfr_resolve_thread(struct jfr_resolver *r, int64_t id);

/* The name of a class, a string of the recording: "com.example.Foo", "byte[]". 0: it has none. */
uint32_t jfr_resolve_type(struct jfr_resolver *r, int64_t id);

void jfr_resolver_free(struct jfr_resolver *r);

#endif
