/* SPDX-License-Identifier: Apache-2.0 */
#include "exporters/nmt.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "exporters/exporter.h"
#include "model/native.h"
#include "model/native_calls.h"

/* As NMT rounds. */
static int64_t kilobytes(int64_t bytes)
{
	return (bytes + 512) / 1024;
}

/* The sites of a JVM that are written, or its tags. */
struct sums {
	struct rec_native_calls *rows; /* owned */
	size_t count;
};

static int by_live_bytes(const void *a, const void *b)
{
	const struct rec_native_calls *x = a, *y = b;
	int64_t left = rec_native_live_bytes(&x->sum), right = rec_native_live_bytes(&y->sum);

	if (left != right)
		return left < right ? 1 : -1;
	/* Of equal ones the first is the lower address: the order is the same each time. */
	if (x->chain.calls[0].address != y->chain.calls[0].address)
		return x->chain.calls[0].address < y->chain.calls[0].address ? -1 : 1;
	return x->tag < y->tag ? -1 : x->tag > y->tag;
}

static int collect(const struct recording *rec, uint32_t jvm, struct sums *out)
{
	uint32_t count = rec_native_calls_count(rec);
	struct sums sums = { .rows = calloc((size_t)count + 1, sizeof(*sums.rows)) };

	if (!sums.rows)
		return -ENOMEM;
	for (uint32_t id = 1; id <= count; id++) {
		const struct rec_native_calls *calls = rec_native_calls_get(rec, id);

		if (calls->jvm == jvm && calls->use == REC_NATIVE_HEAP &&
		    rec_native_live_blocks(&calls->sum))
			sums.rows[sums.count++] = *calls;
	}
	qsort(sums.rows, sums.count, sizeof(*sums.rows), by_live_bytes);
	*out = sums;
	return 0;
}

static int sum_tags(const struct sums *sites, struct sums *out)
{
	struct sums tags = { .rows = calloc(sites->count + 1, sizeof(*tags.rows)) };
	size_t at;

	if (!tags.rows)
		return -ENOMEM;
	for (size_t i = 0; i < sites->count; i++) {
		const struct rec_native_calls *site = &sites->rows[i];

		for (at = 0; at < tags.count && tags.rows[at].tag != site->tag; at++)
			;
		if (at == tags.count)
			tags.rows[tags.count++] = (struct rec_native_calls){ .tag = site->tag };
		rec_native_site_add(&tags.rows[at].sum, &site->sum);
	}
	qsort(tags.rows, tags.count, sizeof(*tags.rows), by_live_bytes);
	*out = tags;
	return 0;
}

/* ---- what is written; the widths are those of NMT's reporter */

static void write_tags(const struct recording *rec, const struct sums *tags, FILE *out)
{
	struct rec_native_site all = { 0 };

	for (size_t i = 0; i < tags->count; i++)
		rec_native_site_add(&all, &tags->rows[i].sum);
	fprintf(out, "Total: reserved=%" PRId64 "KB, committed=%" PRId64 "KB\n",
		kilobytes(rec_native_live_bytes(&all)), kilobytes(rec_native_live_bytes(&all)));
	fprintf(out, "       malloc: %" PRId64 "KB #%" PRId64 "\n",
		kilobytes(rec_native_live_bytes(&all)), rec_native_live_blocks(&all));
	for (size_t i = 0; i < tags->count; i++) {
		const struct rec_native_site *sum = &tags->rows[i].sum;
		int64_t size = kilobytes(rec_native_live_bytes(sum));

		if (!size)
			continue;
		fprintf(out, "\n-%26s (reserved=%" PRId64 "KB, committed=%" PRId64 "KB)\n",
			rec_text(rec, tags->rows[i].tag), size, size);
		fprintf(out, "%27s (malloc=%" PRId64 "KB #%" PRId64 ")\n", "", size,
			rec_native_live_blocks(sum));
	}
}

static void write_call(const struct recording *rec, const struct rec_native_call *call, FILE *out)
{
	fprintf(out, "[0x%016" PRIx64 "]", call->address);
	if (call->function)
		fprintf(out, " %s", rec_text(rec, call->function));
	if (call->offset)
		fprintf(out, "+0x%" PRIx32, call->offset);
	fputc('\n', out);
}

static void write_site(const struct recording *rec, const struct rec_native_calls *site, FILE *out)
{
	int64_t size = kilobytes(rec_native_live_bytes(&site->sum));

	if (!size)
		return;
	for (int i = 0; i < REC_NATIVE_CALLS && site->chain.calls[i].address; i++)
		write_call(rec, &site->chain.calls[i], out);
	if (!site->chain.calls[0].address)
		fputs("[unknown]\n", out);
	fprintf(out, "%28s (malloc=%" PRId64 "KB type=%s #%" PRId64 ")\n\n", "", size,
		rec_text(rec, site->tag), rec_native_live_blocks(&site->sum));
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

static int write_jvm(const struct recording *rec, uint32_t jvm, FILE *out)
{
	struct sums sites = { 0 }, tags = { 0 };
	int err;

	fprintf(out, "%d:\n\n", rec_jvm_get(rec, jvm)->pid);
	if (!write_quality(rec_native_budget_get(rec, jvm), out))
		return 0;
	fputs("Native memory allocated while it was recorded, and not freed:\n\n", out);
	err = collect(rec, jvm, &sites);
	if (!err)
		err = sum_tags(&sites, &tags);
	if (!err) {
		write_tags(rec, &tags, out);
		fputs("\nDetails:\n\n", out);
		for (size_t i = 0; i < sites.count; i++)
			write_site(rec, &sites.rows[i], out);
	}
	free(sites.rows);
	free(tags.rows);
	return err;
}

int nmt_write(const struct recording *rec, const struct export_options *options, FILE *out)
{
	int err = 0;

	(void)options;
	for (uint32_t jvm = 1; jvm <= rec_jvm_count(rec) && !err; jvm++)
		err = write_jvm(rec, jvm, out);
	if (err)
		return err;
	errno = 0;
	if (fflush(out) || ferror(out))
		return errno ? -errno : -EIO;
	return 0;
}
