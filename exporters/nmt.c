/* SPDX-License-Identifier: Apache-2.0 */
#include "exporters/nmt.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "exporters/exporter.h"
#include "model/by_jvm.h"
#include "model/native.h"
#include "model/native_calls.h"

/* As NMT rounds. */
static int64_t kilobytes(int64_t bytes)
{
	return bytes / 1024 + (bytes % 1024 >= 512);
}

#define NAME_MAX_BYTES 4096

/* The sites that are written, those of a JVM behind one another. */
struct sites {
	struct rec_native_calls *rows;
	size_t count;
};

/* Bytes of a tag, and of all. */
struct tag {
	uint32_t name; /* string id */
	int64_t blocks, malloc;
	int64_t reserved, committed;
};

struct tags {
	struct tag *rows; /* owned */
	size_t count;
};

/* A name of the recording, which comes from a process or a file, as one word of text. */
static const char *name_of(const struct recording *rec, uint32_t string, char to[NAME_MAX_BYTES])
{
	const char *name = rec_text(rec, string);

	text_utf8(name, strlen(name), to, NAME_MAX_BYTES);
	return to;
}

static int by_jvm_and_live_bytes(const void *a, const void *b)
{
	const struct rec_native_calls *x = a, *y = b;
	int64_t left = rec_native_live_bytes(&x->sum), right = rec_native_live_bytes(&y->sum);

	if (x->jvm != y->jvm)
		return x->jvm < y->jvm ? -1 : 1;
	if (left != right)
		return left < right ? 1 : -1;
	/* Of equal ones the first is the lower address: the order is the same each time. */
	if (x->chain.calls[0].address != y->chain.calls[0].address)
		return x->chain.calls[0].address < y->chain.calls[0].address ? -1 : 1;
	return x->tag < y->tag ? -1 : x->tag > y->tag;
}

static bool is_known(const struct recording *rec, const struct rec_native_calls *calls)
{
	return calls->use == REC_NATIVE_HEAP || rec_mapped_known(rec, calls->jvm);
}

/* Of all JVMs. The rows are owned by the caller. */
static int collect(const struct recording *rec, struct sites *out)
{
	uint32_t count = rec_native_calls_count(rec);
	struct sites sites = { .rows = calloc((size_t)count + 1, sizeof(*sites.rows)) };

	if (!sites.rows)
		return -ENOMEM;
	for (uint32_t id = 1; id <= count; id++) {
		const struct rec_native_calls *calls = rec_native_calls_get(rec, id);

		if (calls->use != REC_NATIVE_UNKNOWN_FREE && is_known(rec, calls) &&
		    rec_native_live_blocks(&calls->sum))
			sites.rows[sites.count++] = *calls;
	}
	qsort(sites.rows, sites.count, sizeof(*sites.rows), by_jvm_and_live_bytes);
	*out = sites;
	return 0;
}

/* The sites of a JVM, which are the first of the rest: they are taken from there. */
static struct sites take_jvm(struct sites *rest, uint32_t jvm)
{
	struct sites taken = { .rows = rest->rows };

	while (taken.count < rest->count && taken.rows[taken.count].jvm <= jvm)
		taken.count++;
	rest->rows += taken.count;
	rest->count -= taken.count;
	return taken;
}

static void add_site(struct tag *tag, const struct rec_native_calls *site)
{
	int64_t bytes = rec_native_live_bytes(&site->sum);

	switch ((enum rec_native_use)site->use) {
	case REC_NATIVE_HEAP:
		tag->malloc = rec_sum(tag->malloc, bytes);
		tag->blocks = rec_sum(tag->blocks, rec_native_live_blocks(&site->sum));
		break;
	case REC_NATIVE_RESERVED:
	case REC_NATIVE_STACK:
		tag->reserved = rec_sum(tag->reserved, bytes);
		break;
	case REC_NATIVE_COMMITTED:
		tag->committed = rec_sum(tag->committed, bytes);
		break;
	case REC_NATIVE_UNKNOWN_FREE:
	case REC_NATIVE_USE_NR:
		break;
	}
}

static int by_size(const void *a, const void *b)
{
	const struct tag *x = a, *y = b;
	int64_t left = rec_sum(x->malloc, x->committed);
	int64_t right = rec_sum(y->malloc, y->committed);

	return (left < right) - (left > right);
}

static int sum_tags(const struct sites *sites, struct tags *out)
{
	struct tags tags = { .rows = calloc(sites->count + 1, sizeof(*tags.rows)) };
	size_t at;

	if (!tags.rows)
		return -ENOMEM;
	for (size_t i = 0; i < sites->count; i++) {
		const struct rec_native_calls *site = &sites->rows[i];

		for (at = 0; at < tags.count && tags.rows[at].name != site->tag; at++)
			;
		if (at == tags.count)
			tags.rows[tags.count++] = (struct tag){ .name = site->tag };
		add_site(&tags.rows[at], site);
	}
	qsort(tags.rows, tags.count, sizeof(*tags.rows), by_size);
	*out = tags;
	return 0;
}

/* ---- what is written; the widths are those of NMT's reporter */

static void write_all(const struct tags *tags, FILE *out)
{
	struct tag all = { 0 };

	for (size_t i = 0; i < tags->count; i++) {
		all.blocks = rec_sum(all.blocks, tags->rows[i].blocks);
		all.malloc = rec_sum(all.malloc, tags->rows[i].malloc);
		all.reserved = rec_sum(all.reserved, tags->rows[i].reserved);
		all.committed = rec_sum(all.committed, tags->rows[i].committed);
	}
	fprintf(out, "Total: reserved=%" PRId64 "KB, committed=%" PRId64 "KB\n",
		kilobytes(rec_sum(all.malloc, all.reserved)),
		kilobytes(rec_sum(all.malloc, all.committed)));
	fprintf(out, "       malloc: %" PRId64 "KB #%" PRId64 "\n", kilobytes(all.malloc),
		all.blocks);
	if (all.reserved || all.committed)
		fprintf(out, "       mmap:   reserved=%" PRId64 "KB, committed=%" PRId64 "KB\n",
			kilobytes(all.reserved), kilobytes(all.committed));
}

static void write_tags(const struct recording *rec, const struct tags *tags, FILE *out)
{
	char name[NAME_MAX_BYTES];

	write_all(tags, out);
	for (size_t i = 0; i < tags->count; i++) {
		const struct tag *tag = &tags->rows[i];
		int64_t reserved = kilobytes(rec_sum(tag->malloc, tag->reserved));
		int64_t committed = kilobytes(rec_sum(tag->malloc, tag->committed));

		if (!reserved && !committed)
			continue;
		fprintf(out, "\n-%26s (reserved=%" PRId64 "KB, committed=%" PRId64 "KB)\n",
			name_of(rec, tag->name, name), reserved, committed);
		if (kilobytes(tag->malloc))
			fprintf(out, "%27s (malloc=%" PRId64 "KB #%" PRId64 ")\n", "",
				kilobytes(tag->malloc), tag->blocks);
		if (tag->reserved || tag->committed)
			fprintf(out,
				"%27s (mmap: reserved=%" PRId64 "KB, committed=%" PRId64 "KB)\n",
				"", kilobytes(tag->reserved), kilobytes(tag->committed));
	}
}

static void write_call(const struct recording *rec, const struct rec_native_call *call, FILE *out)
{
	char name[NAME_MAX_BYTES];

	fprintf(out, "[0x%016" PRIx64 "]", call->address);
	if (call->function)
		fprintf(out, " %s", name_of(rec, call->function, name));
	if (call->offset)
		fprintf(out, "+0x%" PRIx32, call->offset);
	fputc('\n', out);
}

static void write_site(const struct recording *rec, const struct rec_native_calls *site, FILE *out)
{
	int64_t size = kilobytes(rec_native_live_bytes(&site->sum));
	char tag[NAME_MAX_BYTES];

	if (!size)
		return;
	for (int i = 0; i < REC_NATIVE_CALLS && site->chain.calls[i].address; i++)
		write_call(rec, &site->chain.calls[i], out);
	if (!site->chain.calls[0].address)
		fputs("[unknown]\n", out);
	if (site->use == REC_NATIVE_HEAP)
		fprintf(out, "%28s (malloc=%" PRId64 "KB type=%s #%" PRId64 ")\n\n", "", size,
			name_of(rec, site->tag, tag), rec_native_live_blocks(&site->sum));
	else
		fprintf(out,
			"%28s (mmap: reserved=%" PRId64 "KB, committed=%" PRId64 "KB Type=%s)\n\n",
			"", site->use == REC_NATIVE_COMMITTED ? 0 : size,
			site->use == REC_NATIVE_COMMITTED ? size : 0, name_of(rec, site->tag, tag));
}

/* How much of all there is the figures are. */
static bool write_quality(const struct rec_native_budget *budget, FILE *out)
{
	if (!budget || !budget->attached_ns) {
		fputs("Native memory of this JVM was not recorded\n\n", out);
		return false;
	}
	if (!budget->live_known) {
		fputs("What lives is not known, since probes were taken off to keep "
		      "--max-overhead\n\n",
		      out);
		return false;
	}
	if (budget->interval)
		fprintf(out, "Estimates: one block of %" PRIu64 " bytes was looked at\n\n",
			budget->interval);
	return true;
}

static void write_changes(const struct recording *rec, uint32_t jvm, const struct by_jvm *changes,
			  FILE *out)
{
	size_t count;
	const struct rec_budget_event *events = rec_budget_events(rec, &count);
	char text[REC_BUDGET_TEXT_MAX];
	bool found = false;

	for (uint32_t i = changes->first[jvm]; i < changes->first[jvm + 1]; i++) {
		const struct rec_budget_event *event = &events[changes->order[i]];

		if (event->group != REC_PROBES_NATIVE && event->group != REC_PROBES_MAPPING)
			continue;
		fprintf(out, "Probes: %s\n", rec_budget_event_text(rec, event, text));
		found = true;
	}
	if (found)
		fputc('\n', out);
}

static int write_jvm(const struct recording *rec, uint32_t jvm, const struct sites *sites,
		     FILE *out)
{
	struct tags tags = { 0 };
	int err;

	if (!write_quality(rec_native_budget_get(rec, jvm), out))
		return 0;
	if (!rec_mapped_known(rec, jvm))
		fputs("What is mapped is not known, since probes were taken off to keep "
		      "--max-overhead\n\n",
		      out);
	fputs("Native memory allocated while it was recorded, and not freed:\n\n", out);
	err = sum_tags(sites, &tags);
	if (!err) {
		write_tags(rec, &tags, out);
		fputs("\nDetails:\n\n", out);
		for (size_t i = 0; i < sites->count; i++)
			write_site(rec, &sites->rows[i], out);
	}
	free(tags.rows);
	return err;
}

int nmt_write(const struct recording *rec, const struct export_options *options, FILE *out)
{
	struct sites all = { 0 }, rest, sites;
	struct by_jvm changes;
	size_t count;
	const struct rec_budget_event *events = rec_budget_events(rec, &count);
	uint32_t jvms = rec_jvm_count(rec);
	int err = by_jvm_sort(events, count, sizeof(*events),
			      offsetof(struct rec_budget_event, jvm), jvms, &changes);

	(void)options;
	if (!err)
		err = collect(rec, &all);
	rest = all;
	for (uint32_t jvm = 1; jvm <= jvms && !err; jvm++) {
		sites = take_jvm(&rest, jvm);
		fprintf(out, "%d:\n\n", rec_jvm_get(rec, jvm)->pid);
		write_changes(rec, jvm, &changes, out);
		err = write_jvm(rec, jvm, &sites, out);
	}
	free(all.rows);
	by_jvm_free(&changes);
	if (err)
		return err;
	errno = 0;
	if (fflush(out) || ferror(out))
		return errno ? -errno : -EIO;
	return 0;
}
