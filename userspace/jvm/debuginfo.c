/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/debuginfo.h"

#include <errno.h>

/* A byte of 192 and more says that another follows. */
#define UNSIGNED5_HIGH 192
#define UNSIGNED5_BITS 6
#define UNSIGNED5_MAX  5

#define LINE_END	 0x00
#define LINE_LONG	 0xff /* two signed numbers follow */
#define LINE_ENTRIES_MAX 65536

uint32_t debuginfo_unsigned5(struct cursor *c, unsigned int bias)
{
	uint32_t value = 0;
	uint8_t byte;

	for (unsigned int i = 0; i < UNSIGNED5_MAX; i++) {
		byte = cursor_u8(c);
		if (byte < bias)
			c->failed = true;
		if (c->failed)
			return 0;
		value += (uint32_t)(byte - bias) << (UNSIGNED5_BITS * i);
		if (byte < UNSIGNED5_HIGH)
			break;
	}
	return value;
}

/* Zigzag. */
static int32_t signed5(struct cursor *c, unsigned int bias)
{
	uint32_t value = debuginfo_unsigned5(c, bias);

	return (int32_t)(value >> 1 ^ -(value & 1));
}

/* The next entry, as a difference to the one before. false at the end mark and at damage. */
static bool next_line(struct cursor *c, unsigned int bias, uint32_t *bci, uint32_t *line)
{
	uint8_t byte = cursor_u8(c);

	if (c->failed || byte == LINE_END)
		return false;
	if (byte == LINE_LONG) {
		*bci += (uint32_t)signed5(c, bias);
		*line += (uint32_t)signed5(c, bias);
	} else {
		*bci += byte >> 3;
		*line += byte & 7;
	}
	return !c->failed;
}

size_t debuginfo_line_table_size(const uint8_t *table, size_t size, unsigned int bias)
{
	struct cursor c = cursor_of(table, size);
	uint32_t bci = 0, line = 0;
	size_t n = 0;

	while (n++ < LINE_ENTRIES_MAX && next_line(&c, bias, &bci, &line))
		;
	return c.failed || n > LINE_ENTRIES_MAX ? 0 : size - cursor_left(&c);
}

int debuginfo_line(const uint8_t *table, size_t size, unsigned int bias, int bci)
{
	struct cursor c = cursor_of(table, size);
	uint32_t at = 0, line = 0;
	int best_bci = 0, best = -1;

	/* Entries are in the order of the source, not of the bci. */
	for (size_t n = 0; n < LINE_ENTRIES_MAX && next_line(&c, bias, &at, &line); n++) {
		if (line > UINT16_MAX)
			continue;
		if ((int32_t)at == bci)
			return (int)line;
		if ((int32_t)at < bci && (int32_t)at >= best_bci) {
			best_bci = (int32_t)at;
			best = (int)line;
		}
	}
	return best;
}

static int32_t pc_offset_of(const uint8_t *descs, size_t at)
{
	int32_t offset;

	memcpy(&offset, descs + at * PC_DESC_BYTES, sizeof(offset));
	return offset;
}

bool debuginfo_find_pc(const uint8_t *descs, size_t count, uint32_t offset, bool leaf,
		       uint32_t *scope)
{
	int64_t wanted = (int64_t)offset + leaf;
	size_t low = 0, high = count, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (pc_offset_of(descs, middle) < wanted)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == count)
		return false;
	memcpy(scope, descs + low * PC_DESC_BYTES + sizeof(int32_t), sizeof(*scope));
	return true;
}

int debuginfo_scope(const uint8_t *scopes, size_t size, unsigned int bias, uint32_t offset,
		    struct scope *out)
{
	struct scope scope;
	struct cursor c;

	if (offset >= size)
		return -EBADMSG;
	c = cursor_of(scopes + offset, size - offset);
	scope.sender = debuginfo_unsigned5(&c, bias);
	scope.method = debuginfo_unsigned5(&c, bias);
	/* Stored with 1 added, because method entry is -1. */
	scope.bci = (int32_t)(debuginfo_unsigned5(&c, bias) - 1);
	if (c.failed || scope.bci < -1 || scope.bci > UINT16_MAX)
		return -EBADMSG;
	/* Callers are written first. */
	if (scope.sender >= offset)
		return -EBADMSG;
	*out = scope;
	return 0;
}
