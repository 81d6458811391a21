/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "jvm/memory_impl.h"
#include "target/target.h"

/*
 * PerfData: a prologue of 32 bytes, then entries {length, name offset, vector length, type, flags,
 * unit, variability, value offset}. 188 counters in 32 KiB are usual.
 */
#define CAPACITY_MAX (4u << 20)
#define COUNTERS_MAX 4096
#define MAGIC	     0xc0c0feca /* CAFEC0C0, big endian */
#define FIRST_AT     24		/* in the prologue: where entries begin, and how many there are */
#define ENTRY_BYTES  20
#define TYPE_LONG    'J'

static uint32_t u32_at(const struct vm_counters *c, uint32_t at)
{
	uint32_t value = 0;

	if (at <= c->bytes - sizeof(value))
		memcpy(&value, c->data + at, sizeof(value));
	return value;
}

static int read_data(const struct vm_memory *memory, struct vm_counters *c)
{
	const struct memory_members *m = &memory->member;
	uint64_t start, capacity;
	uint8_t *data;

	if (m->perf_start == NO_MEMBER || m->perf_capacity == NO_MEMBER ||
	    target_read_u64(memory->target, m->perf_start, &start) ||
	    target_read_u64(memory->target, m->perf_capacity, &capacity) || !start ||
	    capacity < ENTRY_BYTES || capacity > CAPACITY_MAX)
		return -ENOENT;
	if (start != c->start || capacity != c->bytes) {
		vm_counters_free(c);
		data = malloc(capacity);
		if (!data)
			return -ENOMEM;
		c->start = start;
		c->bytes = (uint32_t)capacity;
		c->data = data;
	}
	/* The last pages may never have been written to. */
	for (uint32_t at = 0; at < c->bytes; at += MEMORY_PAGE) {
		uint32_t size = c->bytes - at < MEMORY_PAGE ? c->bytes - at : MEMORY_PAGE;

		if (target_read(memory->target, start + at, c->data + at, size))
			memset(c->data + at, 0, size);
	}
	return u32_at(c, 0) == MAGIC ? 0 : -ENOENT;
}

/* A number, whose name and value lie in the entry. Names end in a NUL inside the data. */
static bool is_number(const struct vm_counters *c, uint32_t entry, uint32_t length)
{
	uint32_t name = u32_at(c, entry + 4), value = u32_at(c, entry + 16);

	return u32_at(c, entry + 8) == 0 && c->data[entry + 12] == TYPE_LONG && name < length &&
	       value <= length - sizeof(int64_t) &&
	       memchr(c->data + entry + name, 0, c->bytes - entry - name);
}

static int index_counters(struct vm_counters *c)
{
	uint32_t at = u32_at(c, FIRST_AT), count = u32_at(c, FIRST_AT + 4), length;

	if (count > COUNTERS_MAX)
		count = COUNTERS_MAX;
	free(c->items);
	c->count = 0;
	c->items = calloc(count + 1, sizeof(*c->items));
	if (!c->items)
		return -ENOMEM;
	for (uint32_t i = 0; i < count && at < c->bytes - ENTRY_BYTES; i++, at += length) {
		struct vm_counter counter = { .name = at + u32_at(c, at + 4),
					      .value = at + u32_at(c, at + 16) };

		length = u32_at(c, at);
		if (length < ENTRY_BYTES || length > c->bytes - at)
			break;
		if (is_number(c, at, length))
			c->items[c->count++] = counter;
	}
	return 0;
}

int vm_counters_read(const struct vm_memory *memory, struct vm_counters *counters)
{
	int err = read_data(memory, counters);

	return err ? err : index_counters(counters);
}

bool vm_counters_get(const struct vm_counters *counters, const char *name, int64_t *value)
{
	for (uint32_t i = 0; i < counters->count; i++) {
		const char *other = (const char *)counters->data + counters->items[i].name;

		if (strcmp(other, name) != 0)
			continue;
		memcpy(value, counters->data + counters->items[i].value, sizeof(*value));
		return true;
	}
	return false;
}

void vm_counters_free(struct vm_counters *counters)
{
	free(counters->items);
	free(counters->data);
	*counters = (struct vm_counters){ 0 };
}
