/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include "model/recording_impl.h"

void *rec_rows_add(struct recording *rec, struct rec_rows *rows, uint32_t more)
{
	uint8_t *items;

	if (more > rows->max || rows->count > rows->max - more) {
		if (rows->over_limit)
			rec_quality_add(rec, REC_QUALITY_INFO, rows->over_limit, more);
		return NULL;
	}
	items = rec_grow(rec, rows->items, &rows->capacity, (size_t)rows->count + more,
			 rows->row_size);
	if (!items)
		return NULL;
	rows->items = items;
	items += rows->count * rows->row_size;
	memset(items, 0, more * rows->row_size);
	rows->count += more;
	return items;
}

void rec_count_set(struct recording *rec, struct rec_rows *rows, uint32_t jvm, const char *name,
		   uint64_t value)
{
	uint32_t string = rec_string(rec, name, strlen(name)), at;
	uint64_t key = (uint64_t)jvm << 32 | string;
	struct rec_count *row = rows->items;

	if (map64_get(&rows->places, key, &at)) {
		row[at].value = value;
		return;
	}
	row = rec_rows_add(rec, rows, 1);
	if (!row)
		return;
	*row = (struct rec_count){ jvm, string, value };
	if (map64_set(&rows->places, key, rows->count - 1))
		rec->err = -ENOMEM;
}
