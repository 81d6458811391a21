/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/recording_impl.h"

static struct rec_quality_row *find(const struct recording *rec, enum rec_quality_group group,
				    const char *name)
{
	for (uint32_t i = 0; i < rec->quality_count; i++) {
		struct rec_quality_row *row = &rec->quality[i];

		if (row->group == group && !strcmp(row->name, name))
			return row;
	}
	return NULL;
}

static struct rec_quality_row *append(struct recording *rec, enum rec_quality_group group,
				      const char *name)
{
	struct rec_quality_row *rows = rec_grow(rec, rec->quality, &rec->quality_capacity,
						(size_t)rec->quality_count + 1, sizeof(*rows));
	char *copy;

	if (!rows)
		return NULL;
	rec->quality = rows;
	copy = strdup(name);
	if (!copy) {
		rec->err = -ENOMEM;
		return NULL;
	}
	rows += rec->quality_count++;
	*rows = (struct rec_quality_row){ .group = group, .name = copy };
	return rows;
}

/* Names come from tables of the program, a few dozen: the limit is for a program gone wrong. */
static struct rec_quality_row *find_or_add(struct recording *rec, enum rec_quality_group group,
					   const char *name)
{
	struct rec_quality_row *row = find(rec, group, name);

	if (row)
		return row;
	if (rec->quality_count < rec->limits.quality_rows)
		return append(rec, group, name);
	row = find(rec, group, REC_TRUNCATED);
	return row ? row : append(rec, group, REC_TRUNCATED);
}

void rec_quality_add(struct recording *rec, enum rec_quality_group group, const char *name,
		     uint64_t count)
{
	struct rec_quality_row *row = find_or_add(rec, group, name);

	if (row)
		row->count += count;
}

void rec_quality_set(struct recording *rec, enum rec_quality_group group, const char *name,
		     uint64_t count)
{
	struct rec_quality_row *row = find_or_add(rec, group, name);

	if (row)
		row->count = count;
}

const struct rec_quality_row *rec_quality_rows(const struct recording *rec, size_t *count)
{
	*count = rec->quality_count;
	return rec->quality;
}

uint64_t rec_quality_sum(const struct recording *rec, enum rec_quality_group group)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < rec->quality_count; i++)
		sum += rec->quality[i].group == group ? rec->quality[i].count : 0;
	return sum;
}
