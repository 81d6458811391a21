/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/summary_memory.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/text.h"
#include "model/ledger.h"
#include "model/recording.h"

#define TOP_LINES   5
#define LEAST_PART  100 /* a line below this part of Rss is not worth a place */
#define LEAST_MOVED 10	/* nor one that moved less than this part of what moved most */

struct pair {
	const struct rec_ledger *first;
	const struct rec_ledger *last;
};

static int64_t growth_of(const struct pair *pair)
{
	return (int64_t)(pair->last->rss_bytes - pair->first->rss_bytes);
}

static bool find_most_grown(const struct recording *rec, struct pair *out)
{
	bool found = false;

	for (uint32_t jvm = 1; jvm <= rec_jvm_count(rec); jvm++) {
		struct pair pair = { rec_ledger_first(rec, jvm), rec_ledger_last(rec, jvm) };

		if (!pair.first || (found && growth_of(&pair) <= growth_of(out)))
			continue;
		*out = pair;
		found = true;
	}
	return found;
}

struct amount {
	enum rec_line line;
	int64_t bytes;
};

static int by_size(const void *a, const void *b)
{
	const struct amount *left = a, *right = b;
	int64_t x = llabs(left->bytes), y = llabs(right->bytes);

	return (x < y) - (x > y);
}

static const char *signed_bytes(int64_t bytes, char to[TEXT_MAX + 1])
{
	to[0] = bytes < 0 ? '-' : '+';
	text_bytes((uint64_t)llabs(bytes), to + 1);
	return to;
}

static void sort_by_size(struct amount amounts[REC_LINE_NR])
{
	qsort(amounts, REC_LINE_NR, sizeof(*amounts), by_size);
}

/* "malloc 57.2 MiB, libraries 18.5 MiB", or with signs; the sorted amounts from least bytes on. */
static void write_amounts(const struct amount *amounts, int64_t least, bool with_sign, FILE *out)
{
	const char *before = "";
	char text[TEXT_MAX + 1];

	for (int i = 0; i < TOP_LINES; i++) {
		int64_t bytes = amounts[i].bytes;

		if (!bytes || llabs(bytes) < least)
			break;
		signed_bytes(bytes, text);
		fprintf(out, "%s%s %s", before, rec_line_info(amounts[i].line)->name,
			with_sign ? text : text + 1);
		before = ", ";
	}
	if (!*before)
		fputs("nothing", out);
}

void summary_memory(const struct recording *rec, const struct colors *colors, FILE *out)
{
	struct amount sizes[REC_LINE_NR], growths[REC_LINE_NR];
	const struct rec_jvm *jvm;
	char text[TEXT_MAX + 1];
	struct pair pair;

	if (!find_most_grown(rec, &pair))
		return;
	for (int line = 0; line < REC_LINE_NR; line++) {
		int64_t now = pair.last->lines[line].resident;

		sizes[line] = (struct amount){ (enum rec_line)line, now };
		growths[line] = (struct amount){ (enum rec_line)line,
						 now - pair.first->lines[line].resident };
	}
	sort_by_size(sizes);
	sort_by_size(growths);
	jvm = rec_jvm_get(rec, pair.last->jvm);
	fprintf(out, "%s%-9s%s RSS %s", colors->bold, "memory", colors->off,
		text_bytes(pair.last->rss_bytes, text));
	if (jvm && rec_jvm_count(rec) > 1)
		fprintf(out, " of pid %d", jvm->pid);
	fputs(": ", out);
	write_amounts(sizes, (int64_t)(pair.last->rss_bytes / LEAST_PART), false, out);
	fprintf(out, "; unexplained %s\n",
		text_bytes((uint64_t)pair.last->lines[REC_LINE_UNEXPLAINED].resident, text));
	fprintf(out, "%s%-9s%s RSS %s: ", colors->bold, "growth", colors->off,
		signed_bytes(growth_of(&pair), text));
	write_amounts(growths, llabs(growths[0].bytes) / LEAST_MOVED, true, out);
	fputc('\n', out);
}
