/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_MODEL_RUNTIME_H
#define JVMSCOPE_MODEL_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct recording;

/*
 * Threads that start and end, and compilations. Exceptions and deoptimizations are totals, of
 * REC_EXCEPTION and REC_DEOPTIMIZATION.
 *
 * Ids and strings are those of the recording; 0 is none.
 */

#define REC_MAX_THREAD_EVENTS (1u << 20) /* rows of each table; more are counted */
#define REC_MAX_COMPILATIONS  (1u << 20)

struct rec_thread_event {
	uint32_t jvm;
	uint32_t thread;
	uint32_t parent; /* of a start; 0: it was not seen */
	uint32_t stack;	 /* the parent's */
	bool ends;	 /* else it starts */
	int64_t time_ns;
};

enum rec_compiled { REC_COMPILED_UNKNOWN, REC_COMPILED, REC_COMPILED_NOT };

struct rec_compilation {
	uint32_t jvm;
	uint32_t thread;
	uint32_t method;	/* 0: it could not be named */
	uint32_t compile_id;	/* as the JVM numbers them */
	uint32_t level;		/* 1 to 3 C1, 4 C2 */
	int32_t osr_bci;	/* of the loop it begins in; -1: the whole method */
	uint32_t inlined_bytes; /* of bytecode */
	enum rec_compiled outcome;
	uint32_t code_bytes; /* of code, constants and debug information; 0: none, or not known */
	int64_t time_ns;
	uint64_t duration_ns;
};

/* All adds return the id, or 0 when there was no more room, which is counted, or memory. */
uint32_t rec_thread_event(struct recording *rec, const struct rec_thread_event *event);
const struct rec_thread_event *rec_thread_events(const struct recording *rec, size_t *count);

uint32_t rec_compilation(struct recording *rec, const struct rec_compilation *compilation);
const struct rec_compilation *rec_compilations(const struct recording *rec, size_t *count);

/* For rec_free() and rec_edit_stacks() alone. */
struct rec_runtime;
void rec_runtime_free(struct rec_runtime *runtime);
/* Puts what change returns in place of each stack, and of each method. */
void rec_runtime_each_stack(struct recording *rec, uint32_t (*change)(uint32_t stack, void *ctx),
			    void *ctx);
void rec_runtime_each_method(struct recording *rec, uint32_t (*change)(uint32_t method, void *ctx),
			     void *ctx);

#endif
