/* SPDX-License-Identifier: Apache-2.0 */
#include "model/classes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/recording_impl.h"

/* Rows of one size, in the order they were added. */
struct rows {
	void *items; /* owned */
	uint32_t count;
	uint32_t capacity;
};

struct rec_classes {
	struct table loaders; /* by address and generation: see struct loader_row */
	struct table sites;   /* of struct rec_class_site */
	struct rows classes;
	struct rows rules;
	struct rows counts;
	struct rows changes;
	struct rows methods;
	struct rows agents;
	struct rows starts; /* [jvm - 1] */
	struct rows earlies;
	uint64_t not_listed;
};

/* Keys are hashed and compared as bytes. */
_Static_assert(offsetof(struct rec_loader, type) == 16, "jvm, generation, address come first");
_Static_assert(offsetof(struct rec_class_site, loaded) == 16, "the key comes first");

static struct rec_classes *classes_of(struct recording *rec)
{
	if (rec->classes)
		return rec->classes;
	rec->classes = calloc(1, sizeof(*rec->classes));
	if (!rec->classes) {
		rec->err = -ENOMEM;
		return NULL;
	}
	rec->classes->loaders.row_size = sizeof(struct rec_loader);
	rec->classes->loaders.key_size = offsetof(struct rec_loader, type);
	rec->classes->sites.row_size = sizeof(struct rec_class_site);
	rec->classes->sites.key_size = offsetof(struct rec_class_site, loaded);
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
	free(classes->changes.items);
	free(classes->methods.items);
	free(classes->agents.items);
	free(classes->starts.items);
	free(classes->earlies.items);
	free(classes);
}

/* Room for more rows of this size; NULL when memory is out, or there would be over max. */
static void *add_rows(struct recording *rec, struct rows *rows, size_t size, uint32_t more,
		      uint32_t max)
{
	uint8_t *items;

	if (more > max || rows->count > max - more)
		return NULL;
	items = rec_grow(rec, rows->items, &rows->capacity, (size_t)rows->count + more, size);
	if (!items)
		return NULL;
	rows->items = items;
	rows->count += more;
	return items + (rows->count - more) * size;
}

/* ---- loaders, sites */

uint32_t rec_loader(struct recording *rec, const struct rec_loader *loader)
{
	struct rec_classes *classes = classes_of(rec);
	bool full;

	return classes ? rec_table_add(rec, &classes->loaders, loader, REC_MAX_LOADERS, &full) : 0;
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
	bool full;

	return classes ? rec_table_add(rec, &classes->sites, site, REC_MAX_CLASS_SITES, &full) : 0;
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
	row = add_rows(rec, &classes->classes, sizeof(*row), 1, REC_MAX_CLASSES);
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
	rows = add_rows(rec, &classes->rules, sizeof(*rows), 1, UINT32_MAX);
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
	uint32_t string = rec_string(rec, name, strlen(name));
	struct rec_class_count *rows;

	if (!classes)
		return;
	rows = classes->counts.items;
	for (uint32_t i = 0; i < classes->counts.count; i++) {
		if (rows[i].jvm == jvm && rows[i].name == string) {
			rows[i].count = count;
			return;
		}
	}
	rows = add_rows(rec, &classes->counts, sizeof(*rows), 1, UINT32_MAX);
	if (rows)
		*rows = (struct rec_class_count){ jvm, string, count };
}

const struct rec_class_count *rec_class_counts(const struct recording *rec, size_t *count)
{
	*count = rec->classes ? rec->classes->counts.count : 0;
	return rec->classes ? rec->classes->counts.items : NULL;
}

uint64_t rec_class_sum(const struct recording *rec, const char *name)
{
	size_t count;
	const struct rec_class_count *counts = rec_class_counts(rec, &count);
	uint64_t sum = 0;

	for (size_t i = 0; i < count; i++)
		if (!strcmp(rec_text(rec, counts[i].name), name))
			sum += counts[i].count;
	return sum;
}

/* ---- what agents did */

uint32_t rec_class_change(struct recording *rec, const struct rec_class_change *change,
			  const struct rec_class_method *methods)
{
	struct rec_classes *classes = classes_of(rec);
	struct rec_class_change *row;
	struct rec_class_method *to;
	uint32_t first;

	if (!classes)
		return 0;
	first = classes->methods.count;
	row = add_rows(rec, &classes->changes, sizeof(*row), 1, REC_MAX_CLASS_CHANGES);
	if (!row)
		return 0;
	*row = *change;
	row->first_method = first;
	if (!change->method_count)
		return classes->changes.count;
	to = add_rows(rec, &classes->methods, sizeof(*to), change->method_count,
		      REC_MAX_CLASS_METHODS);
	if (to)
		memcpy(to, methods, change->method_count * sizeof(*to));
	else
		row->method_count = 0;
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

void rec_class_agent(struct recording *rec, const struct rec_class_agent *agent)
{
	struct rec_classes *classes = classes_of(rec);
	struct rec_class_agent *row = NULL;

	if (classes)
		row = add_rows(rec, &classes->agents, sizeof(*row), 1, UINT16_MAX);
	if (row)
		*row = *agent;
}

struct rec_class_agent *rec_class_agents(const struct recording *rec, size_t *count)
{
	*count = rec->classes ? rec->classes->agents.count : 0;
	return rec->classes ? rec->classes->agents.items : NULL;
}

struct rec_class_start *rec_class_start(struct recording *rec, uint32_t jvm)
{
	struct rec_classes *classes = classes_of(rec);
	struct rec_class_start *rows;
	uint32_t had;

	if (!classes || !jvm)
		return NULL;
	had = classes->starts.count;
	if (jvm > had) {
		rows = add_rows(rec, &classes->starts, sizeof(*rows), jvm - had, UINT32_MAX);
		if (!rows)
			return NULL;
		memset(rows, 0, (jvm - had) * sizeof(*rows));
	}
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
		row = add_rows(rec, &classes->earlies, sizeof(*row), 1, REC_MAX_CLASSES);
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
