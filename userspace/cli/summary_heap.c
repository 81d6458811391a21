/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/summary_heap.h"

#include <stdlib.h>

#include "base/text.h"
#include "model/heap.h"
#include "model/recording.h"
#include "model/top.h"

#define TOP	     3
#define LEAST_PART   0.005 /* a share below that is not worth a place */
#define NAME_MAX_LEN 1024

struct class
{
	uint32_t name; /* string id */
	uint64_t bytes;
};

/* A class of several JVMs is several rows. */
static int by_name(const void *a, const void *b)
{
	const struct class *left = a, *right = b;

	return (left->name > right->name) - (left->name < right->name);
}

static int by_bytes(const void *a, const void *b)
{
	const struct class *left = a, *right = b;

	if (left->bytes != right->bytes)
		return left->bytes < right->bytes ? 1 : -1;
	return by_name(a, b);
}

/* Returns how many there are; the largest first. */
static uint32_t read_classes(const struct recording *rec, struct class *classes, uint64_t *all)
{
	uint32_t rows = rec_heap_class_count(rec), count = 0;

	for (uint32_t id = 1; id <= rows; id++) {
		const struct rec_heap_class *row = rec_heap_class_get(rec, id);

		classes[id - 1] = (struct class){ row->name, rec_heap_bytes(row) };
		*all += rec_heap_bytes(row);
	}
	qsort(classes, rows, sizeof(*classes), by_name);
	for (uint32_t i = 0; i < rows; i++) {
		if (count && classes[count - 1].name == classes[i].name)
			classes[count - 1].bytes += classes[i].bytes;
		else
			classes[count++] = classes[i];
	}
	qsort(classes, count, sizeof(*classes), by_bytes);
	return count;
}

static void write_share(const char *before, const char *name, double share, FILE *out)
{
	fprintf(out, "%s%s %.1f %%", before, name, 100 * share);
}

static void write_classes(const struct recording *rec, const struct class *classes, uint32_t count,
			  uint64_t all, FILE *out)
{
	const char *before = ": ";

	for (uint32_t i = 0; i < count && i < TOP; i++) {
		double share = (double)classes[i].bytes / (double)all;

		if (share < LEAST_PART)
			return;
		write_share(before, rec_text(rec, classes[i].name), share, out);
		before = ", ";
	}
}

static void write_sites(const struct recording *rec, FILE *out)
{
	struct top_row rows[TOP];
	int64_t all = 0;
	int count = top_methods(rec, REC_HEAP_ALLOC, rows, TOP, &all);
	const char *before = "; in ";
	char name[NAME_MAX_LEN];

	for (int i = 0; i < count; i++) {
		double share = (double)rows[i].self / (double)all;

		if (share < LEAST_PART || !rows[i].method)
			return;
		rec_method_text(rec, rows[i].method, name, sizeof(name));
		write_share(before, name, share, out);
		before = ", ";
	}
}

void summary_heap(const struct recording *rec, const struct colors *colors, FILE *out)
{
	const struct rec_meta *meta = rec_meta_get(rec);
	double seconds = (double)(meta->end_time_ns - meta->start_time_ns) / 1e9;
	struct class *classes = calloc(rec_heap_class_count(rec) + 1ul, sizeof(*classes));
	char bytes[TEXT_MAX], rate[TEXT_MAX];
	uint64_t all = 0;
	uint32_t count = classes ? read_classes(rec, classes, &all) : 0;

	if (all && seconds > 0) {
		fprintf(out, "%s%-9s%s %s allocated, %s a second", colors->bold, "heap",
			colors->off, text_bytes(all, bytes),
			text_bytes((uint64_t)((double)all / seconds), rate));
		write_classes(rec, classes, count, all, out);
		write_sites(rec, out);
		fputc('\n', out);
	}
	free(classes);
}
