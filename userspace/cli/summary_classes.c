/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/summary_classes.h"

#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "model/classes.h"
#include "model/native.h"
#include "model/recording.h"

#define GROWTH_LEAST 100 /* classes of one site; fewer are what a program starts with */

/* What the probes cost the JVM that they cost most, and what the budget did not allow. */
static void write_budget(const struct recording *rec, FILE *out)
{
	const struct rec_native_budget *most = NULL;
	size_t count;
	const struct rec_native_budget *budgets = rec_native_budgets(rec, &count);

	for (size_t i = 0; i < count; i++)
		if (budgets[i].group == REC_PROBES_CLASS &&
		    (!most || budgets[i].total_cost_pct > most->total_cost_pct))
			most = &budgets[i];
	if (!most)
		return;
	fprintf(out, "; probes cost %.2f %% of a core", most->total_cost_pct);
	if (!most->live_known && most->all_cpu_ns)
		fprintf(out, ", watched %.0f %% of the time, %" PRIu64 " only counted",
			100 * (double)most->watched_cpu_ns / (double)most->all_cpu_ns,
			rec_class_sum(rec, "counted"));
}

static void write_counts(const struct recording *rec, FILE *out)
{
	uint64_t lost = rec_class_sum(rec, "ring_full") + rec_class_sum(rec, "slot_busy");
	uint64_t loaded = rec_class_sum(rec, "loaded");
	size_t rules;

	rec_class_rules(rec, &rules);
	fprintf(out, "%" PRIu64 " loaded, %" PRIu64 " unloaded", loaded,
		rec_class_sum(rec, "unloaded"));
	if (rules)
		fprintf(out,
			"; %" PRIu64 " of those loaded are library code by %zu rule%s, not listed",
			rec_class_sum(rec, "ignored"), rules, rules == 1 ? "" : "s");
	if (rec_class_sum(rec, "notified") > loaded)
		fprintf(out, "; %" PRIu64 " attempts failed or were redefinitions",
			rec_class_sum(rec, "notified") - loaded);
	if (lost || rec_classes_not_listed(rec))
		fprintf(out, "; lost %" PRIu64 ", not listed %" PRIu64, lost,
			rec_classes_not_listed(rec));
	write_budget(rec, out);
	fputc('\n', out);
}

static uint64_t growth_of(const struct rec_class_site *site)
{
	return site->loaded > site->unloaded ? site->loaded - site->unloaded : 0;
}

/* The first Java frame of an application, else the first of all, of who defines the classes. */
static void write_definer(const struct recording *rec, uint32_t id, FILE *out)
{
	struct rec_stack stack = rec_stack_get(rec, id);
	char name[120];

	for (uint32_t i = 0; i < stack.count; i++) {
		const struct rec_frame *frame = rec_frame_get(rec, stack.frames[i]);
		const struct rec_method *method = rec_method_get(rec, frame->method);

		if (!rec_kind_is_java(frame->kind) ||
		    !strncmp(rec_text(rec, method->class_name), "java.", 5))
			continue;
		fprintf(out, " in %s", rec_frame_text(rec, stack.frames[i], name, sizeof(name)));
		return;
	}
}

/* Whether two sites define classes of one kind: their stacks may differ by what was compiled. */
static bool is_same_kind(const struct rec_class_site *a, const struct rec_class_site *b)
{
	return a->jvm == b->jvm && a->pattern == b->pattern && a->loader_type == b->loader_type;
}

/* What the most classes stay of, by the site that has the most of them. */
static void write_growth(const struct recording *rec, const struct colors *colors, FILE *out)
{
	const struct rec_class_site *most = NULL, *site;
	uint64_t sum = 0;

	for (uint32_t id = 1; id <= rec_class_site_count(rec); id++) {
		site = rec_class_site_get(rec, id);
		if (!most || growth_of(site) > growth_of(most))
			most = site;
	}
	for (uint32_t id = 1; most && id <= rec_class_site_count(rec); id++) {
		site = rec_class_site_get(rec, id);
		sum += is_same_kind(site, most) ? growth_of(site) : 0;
	}
	if (sum < GROWTH_LEAST)
		return;
	fprintf(out, "%s%-9s%s +%" PRIu64 " %s by %s", colors->bold, "", colors->off, sum,
		rec_text(rec, most->pattern),
		most->loader_type ? rec_text(rec, most->loader_type) : "the boot loader");
	write_definer(rec, most->stack, out);
	fputc('\n', out);
}

static void write_agent(const struct recording *rec, const struct rec_class_agent *agent, FILE *out)
{
	uint64_t took_ns = agent->premain_ns ? agent->premain_ns : agent->initialize_ns;
	char took[TEXT_MAX];

	fprintf(out, "; %s%s", agent->dynamic ? "attached " : "",
		rec_text(rec, agent->argument ? agent->argument : agent->name));
	if (took_ns)
		fprintf(out, " %s%s", agent->premain_ns ? "premain " : "", text_ns(took_ns, took));
}

static void write_agents(const struct recording *rec, const struct colors *colors, FILE *out)
{
	uint64_t hooked = rec_class_sum(rec, "hooked");
	uint32_t count = rec_class_agent_count(rec);

	if (!hooked && !count)
		return;
	fprintf(out, "%s%-9s%s classes asked for %" PRIu64 ", changed %" PRIu64, colors->bold,
		"agents", colors->off, hooked, rec_class_sum(rec, "transformed"));
	for (uint32_t id = 1; id <= count; id++)
		write_agent(rec, rec_class_agent_get(rec, id), out);
	fputc('\n', out);
}

/* What the listed classes took, and those of rules: where the time of a start went. */
static void write_times(const struct recording *rec, const struct colors *colors, FILE *out)
{
	uint64_t parse_ns = 0, transform_ns = 0, link_ns = 0, initialize_ns = 0;
	char text[4][TEXT_MAX];
	size_t count;
	const struct rec_class_rule *rules = rec_class_rules(rec, &count);

	for (uint32_t id = 1; id <= rec_class_count(rec); id++) {
		const struct rec_class *class = rec_class_get(rec, id);

		parse_ns +=
			class->parse_ns > class->nested_ns ? class->parse_ns - class->nested_ns : 0;
		transform_ns += class->transform_ns;
		link_ns += class->link_ns;
		initialize_ns += class->initialize_self_ns;
	}
	for (size_t i = 0; i < count; i++) {
		parse_ns += rules[i].parse_ns;
		transform_ns += rules[i].transform_ns;
		link_ns += rules[i].link_ns;
		initialize_ns += rules[i].initialize_ns;
	}
	if (!parse_ns && !initialize_ns)
		return;
	fprintf(out, "%s%-9s%s parse %s, agents %s, link %s, initialize %s\n", colors->bold, "",
		colors->off, text_ns(parse_ns, text[0]), text_ns(transform_ns, text[1]),
		text_ns(link_ns, text[2]), text_ns(initialize_ns, text[3]));
}

void summary_classes(const struct recording *rec, const struct colors *colors, FILE *out)
{
	if (!rec_has_classes(rec))
		return;
	fprintf(out, "%s%-9s%s ", colors->bold, "classes", colors->off);
	write_counts(rec, out);
	write_times(rec, colors, out);
	write_growth(rec, colors, out);
	write_agents(rec, colors, out);
}
