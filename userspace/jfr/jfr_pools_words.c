/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "jfr/jfr_pools_impl.h"

/* Constants that are a word: names, and what the JVM has a number and a text for. */

static uint32_t add_name(struct jfr_pools *pools, enum pool_id pool, const char *name)
{
	/* A number that no other name has; as a constant it is of its own type. */
	uint32_t id = intern_add(&pools->symbols, name, strlen(name));
	struct jfr_bytes *entry = id ? jfr_pools_entry(pools, pool, id) : NULL;

	pools->failed |= !id;
	if (entry)
		jfr_put_text(entry, name);
	return id;
}

uint32_t jfr_pools_nmt_type(struct jfr_pools *pools, const char *name)
{
	return add_name(pools, POOL_NMT_TYPE, name);
}

uint32_t jfr_pools_name(struct jfr_pools *pools, const char *name)
{
	return *name ? add_name(pools, POOL_NAME, name) : 0;
}

uint32_t jfr_pools_word(struct jfr_pools *pools, enum jfr_type_id type, const char *text)
{
	int pool = 0;

	while (pool < POOL_NR && jfr_pool_types[pool] != type)
		pool++;
	return *text && pool < POOL_NR ? add_name(pools, (enum pool_id)pool, text) : 0;
}

/* The ids are the JDK's: async-profiler's reader goes by the number. */
uint32_t jfr_pools_gc_when(struct jfr_pools *pools, bool after)
{
	struct jfr_bytes *entry = jfr_pools_entry(pools, POOL_GC_WHEN, after);

	if (entry)
		jfr_put_text(entry, after ? "After GC" : "Before GC");
	return after;
}
