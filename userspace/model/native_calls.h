/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_MODEL_NATIVE_CALLS_H
#define JVMSCOPE_MODEL_NATIVE_CALLS_H

#include <stdint.h>

#include "model/native.h"

/*
 * Native memory by the addresses that called for it, as Native Memory Tracking counts its sites:
 * the innermost calls of native code, and the first address of other code, which has called them.
 * What came by the same calls through different Java methods is one site here.
 */

#define REC_NATIVE_CALLS     4 /* NMT_TrackingStackDepth */
#define REC_MAX_NATIVE_CALLS (1u << 16)

struct rec_native_call {
	uint64_t address;  /* where the call returns to; 0: there is none */
	uint32_t function; /* string id; 0: not known */
	uint32_t offset;   /* of address in the function; 0 for Java methods */
};

struct rec_native_chain {
	struct rec_native_call calls[REC_NATIVE_CALLS]; /* innermost first */
};

struct rec_native_calls {
	/* the key */
	struct rec_native_chain chain;
	uint32_t jvm;
	uint32_t tag; /* string id */
	uint32_t use; /* enum rec_native_use */
	uint32_t pad;
	/* the sum of its sites, without their stacks and ages */
	struct rec_native_site sum;
};

/* Those of a site's JVM, tag and use, made when they are new; NULL when there are too many. */
struct rec_native_calls *rec_native_calls(struct recording *rec,
					  const struct rec_native_chain *chain,
					  const struct rec_native_site *site);
/* Adds the numbers of a site to those of its calls. */
void rec_native_calls_add(struct recording *rec, const struct rec_native_chain *chain,
			  const struct rec_native_site *site);
const struct rec_native_calls *rec_native_calls_get(const struct recording *rec, uint32_t id);
uint32_t rec_native_calls_count(const struct recording *rec); /* ids are 1..count */

#endif
