/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "jvm/memory_impl.h"
#include "target/target.h"

/* Where the JVM has them now: it makes them while it starts, and may make none. */
static int find_data(const struct vm_memory *memory, struct vm_counters *c)
{
	const struct memory_members *m = &memory->member;
	uint64_t start, capacity;
	uint8_t *data;

	if (m->perf_start == NO_MEMBER || m->perf_capacity == NO_MEMBER ||
	    target_read_u64(memory->target, m->perf_start, &start) ||
	    target_read_u64(memory->target, m->perf_capacity, &capacity) || !start ||
	    capacity < PERFDATA_MIN || capacity > PERFDATA_MAX)
		return -ENOENT;
	if (start == c->start && capacity == c->bytes)
		return 0;
	vm_counters_free(c);
	data = calloc(1, capacity);
	if (!data)
		return -ENOMEM;
	c->start = start;
	c->bytes = (uint32_t)capacity;
	c->data = data;
	return 0;
}

/* What is in use of it: all or nothing, since a page that is swapped out is not one of zeros. */
static int read_data(const struct vm_memory *memory, struct vm_counters *c)
{
	uint32_t used;

	if (target_read(memory->target, c->start, c->data, PERFDATA_MIN))
		return -ENOENT;
	used = perfdata_used(c->data);
	if (used > c->bytes)
		used = c->bytes;
	if (used <= PERFDATA_MIN)
		return -ENOENT;
	return target_read(memory->target, c->start, c->data, used);
}

int vm_counters_read(const struct vm_memory *memory, struct vm_counters *counters)
{
	uint32_t count;
	int err;

	err = find_data(memory, counters);
	if (!err)
		err = read_data(memory, counters);
	if (err)
		return err;
	/* Entries are only added: where they are is found once. */
	memcpy(&count, counters->data + PERFDATA_MIN - sizeof(count), sizeof(count));
	if (counters->table.bytes && count == counters->table.said)
		return 0;
	counters->tables++;
	return perfdata_parse(counters->data, counters->bytes, &counters->table);
}

void vm_counters_free(struct vm_counters *counters)
{
	uint32_t tables = counters->tables;

	perfdata_free(&counters->table);
	free(counters->data);
	*counters = (struct vm_counters){ .tables = tables };
}
