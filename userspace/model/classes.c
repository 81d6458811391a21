/* SPDX-License-Identifier: Apache-2.0 */
#include "model/classes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/recording_impl.h"

struct rec_classes {
	struct table loaders; /* of struct rec_loader */
	struct table sites;   /* of struct rec_class_site */
	struct rec_rows classes;
	struct rec_rows rules;
	struct rec_rows counts;
	struct rec_rows changes;
	struct rec_rows methods;
	struct rec_rows agents;
	struct rec_rows starts; /* [jvm - 1] */
	struct rec_rows earlies;
	uint64_t not_listed;
};

#define ROWS(type, most, over)                                                       \
	{                                                                            \
		.row_size = sizeof(struct type), .max = (most), .over_limit = (over) \
	}

static const struct rec_classes no_classes = {
	.loaders = { .row_size = sizeof(struct rec_loader),
		     .key_size = offsetof(struct rec_loader, type) },
	.sites = { .row_size = sizeof(struct rec_class_site),
		   .key_size = offsetof(struct rec_class_site, loaded) },
	.classes = ROWS(rec_class, REC_MAX_CLASSES, NULL),
	.rules = ROWS(rec_class_rule, UINT32_MAX, NULL),
	.counts = ROWS(rec_count, UINT32_MAX, NULL),
	.changes = ROWS(rec_class_change, REC_MAX_CLASS_CHANGES, "class_changes_over_limit"),
	.methods = ROWS(rec_class_method, REC_MAX_CLASS_METHODS, "class_methods_over_limit"),
	.agents = ROWS(rec_class_agent, REC_MAX_CLASS_AGENTS, "class_agents_over_limit"),
	.starts = ROWS(rec_class_start, UINT32_MAX, NULL),
	.earlies = ROWS(rec_class_early, REC_MAX_CLASSES, "early_classes_over_limit"),
};

/* Keys are hashed and compared as bytes. */
_Static_assert(offsetof(struct rec_loader, type) == 16, "jvm, generation, address come first");
_Static_assert(offsetof(struct rec_class_site, loaded) == 16, "the key comes first");

static struct rec_classes *classes_of(struct recording *rec)
{
	if (rec->classes)
		return rec->classes;
	rec->classes = malloc(sizeof(*rec->classes));
	if (!rec->classes) {
		rec->err = -ENOMEM;
		return NULL;
	}
	*rec->classes = no_classes;
	return rec->classes;
}

bool rec_has_classes(const struct recording *rec)
{
	return rec->classes;
}

void rec_classes_free(struct rec_classes *classes)
{
	if (!classes)
		return;
	table_free(&classes->loaders);
	table_free(&classes->sites);
	free(classes->classes.items);
	free(classes->rules.items);
	free(classes->counts.items);
	map64_free(&classes->counts.places);
	free(classes->changes.items);
	free(classes->methods.items);
	free(classes->agents.items);
	free(classes->starts.items);
	free(classes->earlies.items);
	free(classes);
}

/* A row that is found by its key, or added. */
static uint32_t add_keyed(struct recording *rec, struct table *table, const void *row, uint32_t max,
			  const char *over_limit)
{
	bool full;
	uint32_t id = rec_table_add(rec, table, row, max, &full);

	if (full)
		rec_quality_add(rec, REC_QUALITY_INFO, over_limit, 1);
	return id;
}

/* ---- loaders, sites */

uint32_t rec_loader(struct recording *rec, const struct rec_loader *loader)
{
	struct rec_classes *classes = classes_of(rec);

	return classes ? add_keyed(rec, &classes->loaders, loader, REC_MAX_LOADERS,
				   "class_loaders_over_limit")
		       : 0;
}

struct rec_loader *rec_loader_get(const struct recording *rec, uint32_t id)
{
	return rec->classes ? table_get(&rec->classes->loaders, id) : NULL;
}

uint32_t rec_loader_count(const struct recording *rec)
{
	return rec->classes ? rec->classes->loaders.count : 0;
}

uint32_t rec_class_site(struct recording *rec, const struct rec_class_site *site)
{
	struct rec_classes *classes = classes_of(rec);

	return classes ? add_keyed(rec, &classes->sites, site, REC_MAX_CLASS_SITES,
				   "class_sites_over_limit")
		       : 0;
}

struct rec_class_site *rec_class_site_get(const struct recording *rec, uint32_t id)
{
	return rec->classes ? table_get(&rec->classes->sites, id) : NULL;
}

uint32_t rec_class_site_count(const struct recording *rec)
{
	return rec->classes ? rec->classes->sites.count : 0;
}

/* ---- classes */

uint32_t rec_class(struct recording *rec, const struct rec_class *class)
{
	struct rec_classes *classes = classes_of(rec);
	struct rec_class *row;

	if (!classes)
		return 0;
	row = rec_rows_add(rec, &classes->classes, 1);
	if (!row) {
		classes->not_listed++;
		return 0;
	}
	*row = *class;
	return classes->classes.count;
}

struct rec_class *rec_class_get(const struct recording *rec, uint32_t id)
{
	if (!rec->classes || !id || id > rec->classes->classes.count)
		return NULL;
	return (struct rec_class *)rec->classes->classes.items + (id - 1);
}

uint64_t rec_class_read_ns(const struct recording *rec, const struct rec_class *class)
{
	const struct rec_loader *loader = rec_loader_get(rec, class->loader);

	return loader && loader->type ? 0 : class->read_ns;
}

uint32_t rec_class_count(const struct recording *rec)
{
	return rec->classes ? rec->classes->classes.count : 0;
}

uint64_t rec_classes_not_listed(const struct recording *rec)
{
	return rec->classes ? rec->classes->not_listed : 0;
}

/* ---- rules, counters */

void rec_class_rule_set(struct recording *rec, const struct rec_class_rule *rule)
{
	struct rec_classes *classes = classes_of(rec);
	struct rec_class_rule *rows;

	if (!classes)
		return;
	rows = classes->rules.items;
	for (uint32_t i = 0; i < classes->rules.count; i++) {
		if (rows[i].jvm == rule->jvm && rows[i].text == rule->text &&
		    rows[i].number == rule->number) {
			rows[i] = *rule;
			return;
		}
	}
	rows = rec_rows_add(rec, &classes->rules, 1);
	if (rows)
		*rows = *rule;
}

const struct rec_class_rule *rec_class_rules(const struct recording *rec, size_t *count)
{
	*count = rec->classes ? rec->classes->rules.count : 0;
	return rec->classes ? rec->classes->rules.items : NULL;
}

void rec_class_count_set(struct recording *rec, uint32_t jvm, const char *name, uint64_t count)
{
	struct rec_classes *classes = classes_of(rec);

	if (classes)
		rec_count_set(rec, &classes->counts, jvm, name, count);
}

const struct rec_count *rec_class_counts(const struct recording *rec, size_t *count)
{
	*count = rec->classes ? rec->classes->counts.count : 0;
	return rec->classes ? rec->classes->counts.items : NULL;
}

uint64_t rec_class_sum(const struct recording *rec, const char *name)
{
	size_t count;
	const struct rec_count *counts = rec_class_counts(rec, &count);
	uint64_t sum = 0;

	for (size_t i = 0; i < count; i++)
		if (!strcmp(rec_text(rec, counts[i].name), name))
			sum += counts[i].value;
	return sum;
}

/* ---- what agents did */

uint32_t rec_class_change(struct recording *rec, const struct rec_class_change *change,
			  const struct rec_class_method *methods)
{
	struct rec_classes *classes = classes_of(rec);
	struct rec_class_method *to = NULL;
	struct rec_class_change *row;

	if (!classes)
		return 0;
	if (change->method_count)
		to = rec_rows_add(rec, &classes->methods, change->method_count);
	if (change->method_count && !to)
		return 0;
	row = rec_rows_add(rec, &classes->changes, 1);
	if (!row) {
		classes->methods.count -= change->method_count;
		return 0;
	}
	if (to)
		memcpy(to, methods, change->method_count * sizeof(*to));
	*row = *change;
	row->first_method = classes->methods.count - change->method_count;
	return classes->changes.count;
}

const struct rec_class_change *rec_class_change_get(const struct recording *rec, uint32_t id)
{
	if (!rec->classes || !id || id > rec->classes->changes.count)
		return NULL;
	return (const struct rec_class_change *)rec->classes->changes.items + (id - 1);
}

const struct rec_class_method *rec_class_methods(const struct recording *rec)
{
	return rec->classes ? rec->classes->methods.items : NULL;
}

uint32_t rec_class_agent(struct recording *rec, const struct rec_class_agent *agent)
{
	struct rec_classes *classes = classes_of(rec);
	struct rec_class_agent *row = NULL;

	if (classes)
		row = rec_rows_add(rec, &classes->agents, 1);
	if (!row)
		return 0;
	*row = *agent;
	return classes->agents.count;
}

struct rec_class_agent *rec_class_agent_get(const struct recording *rec, uint32_t id)
{
	if (!rec->classes || !id || id > rec->classes->agents.count)
		return NULL;
	return (struct rec_class_agent *)rec->classes->agents.items + (id - 1);
}

uint32_t rec_class_agent_count(const struct recording *rec)
{
	return rec->classes ? rec->classes->agents.count : 0;
}

struct rec_class_start *rec_class_start(struct recording *rec, uint32_t jvm)
{
	struct rec_classes *classes = classes_of(rec);

	if (!classes || !jvm)
		return NULL;
	if (jvm > classes->starts.count &&
	    !rec_rows_add(rec, &classes->starts, jvm - classes->starts.count))
		return NULL;
	return (struct rec_class_start *)classes->starts.items + (jvm - 1);
}

const struct rec_class_start *rec_class_start_get(const struct recording *rec, uint32_t jvm)
{
	if (!rec->classes || !jvm || jvm > rec->classes->starts.count)
		return NULL;
	return (const struct rec_class_start *)rec->classes->starts.items + (jvm - 1);
}

void rec_class_early(struct recording *rec, const struct rec_class_early *early)
{
	struct rec_classes *classes = classes_of(rec);
	struct rec_class_early *row = NULL;

	if (classes)
		row = rec_rows_add(rec, &classes->earlies, 1);
	if (row)
		*row = *early;
}

const struct rec_class_early *rec_class_earlies(const struct recording *rec, size_t *count)
{
	*count = rec->classes ? rec->classes->earlies.count : 0;
	return rec->classes ? rec->classes->earlies.items : NULL;
}

/* ---- stacks */

void rec_classes_each_stack(struct recording *rec, uint32_t (*change)(uint32_t stack, void *ctx),
			    void *ctx)
{
	struct rec_class_early *early;
	struct rec_class *class;

	if (!rec->classes)
		return;
	class = rec->classes->classes.items;
	for (uint32_t i = 0; i < rec->classes->classes.count; i++)
		class[i].stack = change(class[i].stack, ctx);
	early = rec->classes->earlies.items;
	for (uint32_t i = 0; i < rec->classes->earlies.count; i++)
		early[i].stack = change(early[i].stack, ctx);
	for (uint32_t id = 1; id <= rec->classes->sites.count; id++) {
		struct rec_class_site *site = table_get(&rec->classes->sites, id);

		site->stack = change(site->stack, ctx);
	}
}
