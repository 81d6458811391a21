/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/perfdata.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"

#define MAGIC	      0xc0c0feca /* CAFEC0C0, big endian */
#define IS_LITTLE     1
#define MAJOR_VERSION 2 /* since JDK 5 */
#define ENTRIES_MAX   4096
#define ENTRY_BYTES   20
#define TYPE_LONG     'J'
#define TYPE_BYTE     'B'

struct prologue {
	uint32_t magic;
	uint8_t endianness;
	uint8_t major;
	uint8_t minor;
	uint8_t accessible; /* set when the JVM has made all it starts with */
	uint32_t used;
	uint32_t overflow;
	uint64_t modified;
	uint32_t first; /* entry */
	uint32_t count;
};

static struct prologue read_prologue(struct cursor *c)
{
	struct prologue p;

	p.magic = cursor_u32(c);
	p.endianness = cursor_u8(c);
	p.major = cursor_u8(c);
	p.minor = cursor_u8(c);
	p.accessible = cursor_u8(c);
	p.used = cursor_u32(c);
	p.overflow = cursor_u32(c);
	p.modified = cursor_u64(c);
	p.first = cursor_u32(c);
	p.count = cursor_u32(c);
	return p;
}

static bool is_ready(const struct prologue *p)
{
	return p->magic == MAGIC && p->endianness == IS_LITTLE && p->major == MAJOR_VERSION &&
	       p->accessible;
}

uint32_t perfdata_used(const void *prologue)
{
	struct cursor c = cursor_of(prologue, PERFDATA_MIN);
	struct prologue p = read_prologue(&c);

	return is_ready(&p) ? p.used : 0;
}

/*
 * The entry at the start of size bytes, which begin at an offset. Returns its length, 0 when it is
 * none, or behind what can be understood.
 */
static uint32_t read_entry(const uint8_t *bytes, uint32_t size, uint32_t at,
			   struct perfdata_entry *out)
{
	struct cursor c = cursor_of(bytes + at, size - at);
	uint32_t length = cursor_u32(&c), name = cursor_u32(&c), elements = cursor_u32(&c);
	uint8_t type = cursor_u8(&c);
	uint32_t value, value_bytes;

	cursor_bytes(&c, 3);
	value = cursor_u32(&c);
	if (c.failed || length < ENTRY_BYTES || length > size - at)
		return 0;
	*out = (struct perfdata_entry){ 0 };
	value_bytes = type == TYPE_LONG && !elements ? (uint32_t)sizeof(int64_t) : elements;
	if ((type != TYPE_LONG || elements) && (type != TYPE_BYTE || !elements))
		return length;
	if (name < ENTRY_BYTES || name >= length || value < ENTRY_BYTES || value > length ||
	    value_bytes > length - value || !memchr(bytes + at + name, 0, length - name))
		return length;
	*out = (struct perfdata_entry){ .name = at + name,
					.value = at + value,
					.length = type == TYPE_BYTE ? elements : 0 };
	return length;
}

int perfdata_parse(const void *bytes, uint32_t size, struct perfdata *out)
{
	struct cursor c = cursor_of(bytes, size);
	struct prologue p = read_prologue(&c);
	uint32_t count = p.count < ENTRIES_MAX ? p.count : ENTRIES_MAX, at = p.first, length;

	perfdata_free(out);
	if (c.failed || !is_ready(&p))
		return -ENOENT;
	out->entries = calloc(count + 1, sizeof(*out->entries));
	if (!out->entries)
		return -ENOMEM;
	out->bytes = bytes;
	out->size = size;
	out->said = p.count;
	for (uint32_t i = 0; i < count && at < size; i++, at += length) {
		struct perfdata_entry entry;

		length = read_entry(bytes, size, at, &entry);
		if (!length)
			break;
		if (entry.name)
			out->entries[out->count++] = entry;
	}
	return 0;
}

void perfdata_free(struct perfdata *data)
{
	free(data->entries);
	*data = (struct perfdata){ 0 };
}

/* The bytes may have changed since they were parsed: a name may have lost its NUL. */
static bool is_named(const struct perfdata *data, const struct perfdata_entry *entry,
		     const char *name)
{
	size_t len = strlen(name) + 1;

	return len <= data->size - entry->name && !memcmp(data->bytes + entry->name, name, len);
}

const struct perfdata_entry *perfdata_find(const struct perfdata *data, const char *name)
{
	for (uint32_t i = 0; i < data->count; i++)
		if (is_named(data, &data->entries[i], name))
			return &data->entries[i];
	return NULL;
}

bool perfdata_number(const struct perfdata *data, const struct perfdata_entry *entry,
		     int64_t *value)
{
	if (!entry || entry->length)
		return false;
	memcpy(value, data->bytes + entry->value, sizeof(*value));
	return true;
}

bool perfdata_text(const struct perfdata *data, const struct perfdata_entry *entry, char *to,
		   size_t size)
{
	size_t len;

	*to = 0;
	if (!entry || !entry->length)
		return false;
	len = strnlen((const char *)data->bytes + entry->value, entry->length);
	if (len >= size)
		len = size - 1;
	memcpy(to, data->bytes + entry->value, len);
	to[len] = 0;
	return true;
}
