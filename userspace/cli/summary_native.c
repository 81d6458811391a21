/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/summary_native.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "model/native.h"
#include "model/recording.h"

#define TOP_TAGS    5
#define TOP_CHANGES 3
#define TAGS_MAX    64	/* the JVM has some thirty, and there is "libc" */
#define LEAST_PART  100 /* a tag below this part of the largest is not worth a place */

struct tag {
	uint32_t name; /* string id */
	int64_t bytes;
};

/* Native memory of one JVM. */
struct account {
	const struct rec_native_budget *budget;
	int64_t blocks; /* allocated */
	int64_t allocated_bytes;
	int64_t bytes; /* of all tags: what lives where that is known, else what was allocated */
	struct tag tags[TAGS_MAX];
	size_t tag_count;
};

/* What the VM of one JVM has mapped. */
struct mapped {
	uint32_t jvm;
	int64_t reserved, stacks, stack_bytes;
	struct account committed; /* by tag */
};

static void add_to_tag(struct account *account, uint32_t name, int64_t bytes)
{
	size_t at = 0;

	while (at < account->tag_count && account->tags[at].name != name)
		at++;
	if (at == TAGS_MAX)
		return;
	if (at == account->tag_count)
		account->tags[account->tag_count++] = (struct tag){ .name = name };
	account->tags[at].bytes += bytes;
}

static void read_account(const struct recording *rec, const struct rec_native_budget *budget,
			 struct account *account)
{
	memset(account, 0, sizeof(*account));
	account->budget = budget;
	for (uint32_t id = 1; id <= rec_native_site_count(rec); id++) {
		const struct rec_native_site *site = rec_native_site_get(rec, id);
		int64_t bytes;

		if (site->jvm != budget->jvm || site->use != REC_NATIVE_HEAP)
			continue;
		bytes = budget->live_known ? rec_native_live_bytes(site) : site->allocated_bytes;
		account->blocks += site->allocated_blocks;
		account->allocated_bytes += site->allocated_bytes;
		account->bytes += bytes;
		add_to_tag(account, site->tag, bytes);
	}
}

static int by_bytes(const void *a, const void *b)
{
	const struct tag *left = a, *right = b;

	return (left->bytes < right->bytes) - (left->bytes > right->bytes);
}

static void write_tags(const struct recording *rec, struct account *account, const char *sign,
		       FILE *out)
{
	const char *before = ": ";
	struct tag *tags = account->tags;
	char text[TEXT_MAX];

	qsort(tags, account->tag_count, sizeof(*tags), by_bytes);
	for (size_t i = 0; i < account->tag_count && i < TOP_TAGS; i++) {
		if (tags[i].bytes <= 0 || tags[i].bytes < tags[0].bytes / LEAST_PART)
			break;
		fprintf(out, "%s%s %s%s", before, rec_text(rec, tags[i].name), sign,
			text_bytes((uint64_t)tags[i].bytes, text));
		before = ", ";
	}
}

/* Nothing when every block was seen. */
static void write_coverage(const struct rec_native_budget *budget, FILE *out)
{
	double part = 1;
	bool exact = true;

	for (int state = REC_NATIVE_EXACT + 1; state < REC_NATIVE_STATE_NR; state++)
		exact = exact && !budget->state_ns[state];
	if (exact && budget->estimated)
		return;
	if (budget->all_cpu_ns)
		part = (double)budget->watched_cpu_ns / (double)budget->all_cpu_ns;
	if (!budget->estimated)
		fprintf(out, "; only what was seen in %.1f %% of its CPU time", 100 * part);
	else if (part < 1)
		fprintf(out, "; estimated from %.1f %% of its CPU time, standard error %.1f %%",
			100 * part, budget->error_pct);
	else
		fputs("; estimated from samples", out);
}

/* Estimates of what lives may come out below nothing. */
static const char *bytes_text(int64_t bytes, char to[TEXT_MAX])
{
	return text_bytes(bytes > 0 ? (uint64_t)bytes : 0, to);
}

static void write_account(const struct recording *rec, struct account *account, FILE *out)
{
	const struct rec_jvm *jvm = rec_jvm_get(rec, account->budget->jvm);
	char bytes[TEXT_MAX], blocks[TEXT_MAX];

	bytes_text(account->allocated_bytes, bytes);
	text_count((uint64_t)account->blocks, blocks);
	if (account->budget->live_known) {
		char live[TEXT_MAX];

		fprintf(out, "%s live of %s in %s blocks allocated",
			bytes_text(account->bytes, live), bytes, blocks);
	} else {
		fprintf(out, "%s in %s blocks allocated, how much lives is not known", bytes,
			blocks);
	}
	if (jvm && rec_jvm_count(rec) > 1)
		fprintf(out, ", of pid %d", jvm->pid);
	write_tags(rec, account, account->budget->live_known ? "+" : "", out);
	write_coverage(account->budget, out);
}

/* ---- mappings */

static void read_mapped(const struct recording *rec, uint32_t jvm, struct mapped *out)
{
	*out = (struct mapped){ .jvm = jvm };
	for (uint32_t id = 1; id <= rec_native_site_count(rec); id++) {
		const struct rec_native_site *site = rec_native_site_get(rec, id);
		int64_t bytes = rec_native_live_bytes(site);

		if (site->jvm != jvm)
			continue;
		out->reserved += site->use == REC_NATIVE_RESERVED ? bytes : 0;
		if (site->use == REC_NATIVE_STACK) {
			out->stacks += rec_native_live_blocks(site);
			out->stack_bytes += bytes;
		} else if (site->use == REC_NATIVE_COMMITTED) {
			out->committed.bytes += bytes;
			add_to_tag(&out->committed, site->tag, bytes);
		}
	}
}

static int64_t all_of(const struct mapped *mapped)
{
	return mapped->committed.bytes + mapped->stack_bytes;
}

void summary_mapped(const struct recording *rec, const struct colors *colors, FILE *out)
{
	struct mapped most = { 0 }, mapped;
	char committed[TEXT_MAX], reserved[TEXT_MAX], stacks[TEXT_MAX];

	for (uint32_t jvm = 1; jvm <= rec_jvm_count(rec); jvm++) {
		read_mapped(rec, jvm, &mapped);
		if (rec_mapped_known(rec, jvm) && all_of(&mapped) > all_of(&most))
			most = mapped;
	}
	if (!most.jvm)
		return;
	fprintf(out, "%s%-9s%s %s committed, %s reserved, %" PRId64 " thread stacks of %s",
		colors->bold, "mapped", colors->off, bytes_text(most.committed.bytes, committed),
		bytes_text(most.reserved, reserved), most.stacks,
		bytes_text(most.stack_bytes, stacks));
	if (rec_jvm_count(rec) > 1)
		fprintf(out, ", of pid %d", rec_jvm_get(rec, most.jvm)->pid);
	write_tags(rec, &most.committed, "+", out);
	fputc('\n', out);
}

void summary_changes(const struct recording *rec, const struct colors *colors, FILE *out)
{
	size_t count;
	const struct rec_budget_event *events = rec_budget_events(rec, &count);
	char text[REC_BUDGET_TEXT_MAX];

	for (size_t i = 0; i < count && i < TOP_CHANGES; i++) {
		const struct rec_jvm *jvm = rec_jvm_get(rec, events[i].jvm);

		fprintf(out, "%s%-9s%s %s", colors->bold, i ? "" : "probes", colors->off,
			rec_budget_event_text(rec, &events[i], text));
		if (jvm && rec_jvm_count(rec) > 1)
			fprintf(out, ", of pid %d", jvm->pid);
		if (i + 1 == TOP_CHANGES && count > TOP_CHANGES)
			fprintf(out, "; %zu more changes", count - TOP_CHANGES);
		fputc('\n', out);
	}
}

void summary_native(const struct recording *rec, const struct colors *colors, FILE *out)
{
	struct account most, account;
	size_t count;
	const struct rec_native_budget *budgets = rec_native_budgets(rec, &count);
	bool found = false;

	for (size_t i = 0; i < count; i++) {
		if (budgets[i].group != REC_PROBES_NATIVE)
			continue;
		read_account(rec, &budgets[i], &account);
		if (!found || account.bytes > most.bytes)
			most = account;
		found = true;
	}
	if (!found)
		return;
	fprintf(out, "%s%-9s%s ", colors->bold, "native", colors->off);
	write_account(rec, &most, out);
	fputc('\n', out);
}
