/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_JFR_POOLS_IMPL_H
#define JVMSCOPE_JFR_POOLS_IMPL_H

#include "base/intern.h"
#include "base/map64.h"
#include "base/strbuf.h"
#include "jfr/jfr_pools.h"

/* Inside of jfr_pools*.c. */

enum pool_id {
	POOL_FRAME_TYPE,
	POOL_THREAD_STATE,
	POOL_THREAD,
	POOL_THREAD_GROUP,
	POOL_STACK,
	POOL_STACK_STATE,
	POOL_INNER_FRAMES,
	POOL_METHOD,
	POOL_SOURCE_FILE,
	POOL_CLASS,
	POOL_PACKAGE,
	POOL_SYMBOL,
	POOL_LOADER,
	POOL_NMT_TYPE,
	POOL_NAME,
	POOL_GC_NAME,
	POOL_GC_CAUSE,
	POOL_GC_WHEN,
	POOL_VM_OPERATION,
	POOL_COMPILER,
	POOL_DEOPT_REASON,
	POOL_DEOPT_ACTION,
	POOL_OOP_MODE,
	POOL_FLAG_ORIGIN,
	POOL_NR,
};

/* One pool of the current chunk. */
struct pool {
	struct jfr_bytes entries; /* each an id and a value; those not written yet */
	uint32_t count;
	uint32_t *chunk_of; /* owned; [id]: the last chunk that has the entry, 0 none */
	size_t capacity;
};

/* What a thread was when it got its id. */
struct thread_id {
	uint32_t id; /* 0: none yet */
	uint32_t name;
	uint32_t group;
};

struct jfr_pools {
	struct pool pools[POOL_NR];
	struct pool unnamed; /* only its chunk_of: methods from UNNAMED_FIRST on */
	struct intern symbols;
	struct map64 groups; /* JVM and name to id */
	uint32_t group_count;
	struct thread_id *threads; /* owned; [thread id of the recording] */
	size_t thread_capacity;
	uint32_t thread_count; /* ids given */
	uint32_t chunk;	       /* number of the current one, from 1 */
	struct strbuf text;
	bool failed;
};

extern const enum jfr_type_id jfr_pool_types[POOL_NR];

/* Where the value of an entry that the chunk does not have yet is to be put; NULL when it has. */
struct jfr_bytes *jfr_pools_entry(struct jfr_pools *pools, enum pool_id which, uint32_t id);

#endif
