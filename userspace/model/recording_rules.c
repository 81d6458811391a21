/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "model/recording_impl.h"

uint32_t rec_rule(struct recording *rec, uint32_t text, uint32_t number)
{
	struct rec_rule row = { .text = text, .number = number };
	bool full;

	/* There are no more rules than classes, and no more classes than strings. */
	return rec_table_add(rec, &rec->rules, &row, UINT32_MAX, &full);
}

struct rec_rule *rec_rule_get(const struct recording *rec, uint32_t id)
{
	return table_get(&rec->rules, id);
}

uint32_t rec_rule_count(const struct recording *rec)
{
	return rec->rules.count;
}

void rec_method_rule_set(struct recording *rec, uint32_t method, uint32_t rule)
{
	void *rows;

	if (!method)
		return;
	rows = rec_grow(rec, rec->method_rules, &rec->method_rules_capacity, method,
			sizeof(*rec->method_rules));
	if (!rows)
		return;
	rec->method_rules = rows;
	if (method > rec->method_rules_count) {
		memset(rec->method_rules + rec->method_rules_count, 0,
		       (method - rec->method_rules_count) * sizeof(*rec->method_rules));
		rec->method_rules_count = method;
	}
	rec->method_rules[method - 1] = rule + 1;
}

bool rec_method_rule(const struct recording *rec, uint32_t method, uint32_t *rule)
{
	if (!method || method > rec->method_rules_count || !rec->method_rules[method - 1])
		return false;
	*rule = rec->method_rules[method - 1] - 1;
	return true;
}

struct rec_filter *rec_filter(struct recording *rec)
{
	return &rec->filter;
}

const struct rec_filter *rec_filter_get(const struct recording *rec)
{
	return &rec->filter;
}
