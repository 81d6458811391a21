/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_CALLS_H
#define JVMSCOPE_CALLS_H

#include <stdint.h>

#include "base/map64.h"
#include "live/resolve.h"
#include "model/native_calls.h"

struct process;
struct recording;

/*
 * The addresses behind stacks of allocations, for model/native_calls.h: frames of the recording
 * have names, and one name for all calls of a function in it.
 */
struct calls {
	struct map64 by_stack;	     /* hash to place in stacks */
	struct called_stack *stacks; /* owned */
	uint32_t count;
	uint32_t capacity;
};

#define CALLS_MAX (1u << 16) /* stacks; what comes then is told without calls */

struct called_stack {
	uint64_t hash;
	uint32_t target; /* struct process.index */
	struct rec_native_chain chain;
};

/*
 * Remembers the calls of a stack with this hash, innermost frame the allocating function itself.
 * stack is what resolve_stack() made of raw.
 */
void calls_see(struct calls *calls, const struct process *p, struct recording *rec, uint64_t hash,
	       const struct raw_stack *raw, uint32_t stack);

/* Those of a stack; NULL when they are not known. Valid until the next calls_see(). */
const struct rec_native_chain *calls_of(const struct calls *calls, uint64_t hash);

/* A target's stacks are not asked for any more. */
void calls_forget(struct calls *calls, uint32_t target);

void calls_free(struct calls *calls);

#endif
