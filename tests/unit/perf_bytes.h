/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JVMSCOPE_PERF_BYTES_H
#define JVMSCOPE_PERF_BYTES_H

#include <stdint.h>
#include <string.h>

/* A JVM's performance counters, made of bytes: see jvm/perfdata.h. */
struct perf_bytes {
	uint32_t magic;
	uint8_t endianness, major, minor, accessible;
	uint32_t used, overflow;
	uint64_t modified;
	uint32_t first, count;
	uint8_t entries[4064];
};

static inline void perf_begin(struct perf_bytes *perf)
{
	memset(perf, 0, sizeof(*perf));
	perf->magic = 0xc0c0feca;
	perf->endianness = 1;
	perf->major = 2;
	perf->accessible = 1;
	perf->first = perf->used = 32;
}

/* Returns where the entry is. */
static inline uint8_t *perf_add(struct perf_bytes *perf, const char *name, char type,
				uint32_t elements, const void *value, uint32_t value_bytes)
{
	uint32_t name_bytes = ((uint32_t)strlen(name) + 8) & ~7u;
	uint32_t value_at = 20 + name_bytes + 4;
	uint32_t head[3] = { (value_at + value_bytes + 7) & ~7u, 20, elements };
	uint8_t *to = (uint8_t *)perf + perf->used;

	memcpy(to, head, sizeof(head));
	to[12] = (uint8_t)type;
	memcpy(to + 16, &value_at, 4);
	memcpy(to + 20, name, strlen(name) + 1);
	memcpy(to + value_at, value, value_bytes);
	perf->count++;
	perf->used += head[0];
	return to;
}

static inline uint8_t *perf_number(struct perf_bytes *perf, const char *name, int64_t value)
{
	return perf_add(perf, name, 'J', 0, &value, sizeof(value));
}

static inline uint8_t *perf_text(struct perf_bytes *perf, const char *name, const char *text,
				 uint32_t size)
{
	char bytes[256] = { 0 };

	memcpy(bytes, text, strlen(text));
	return perf_add(perf, name, 'B', size, bytes, size);
}

#endif
