/* SPDX-License-Identifier: Apache-2.0 */
#include "model/classes.h"

#include <string.h>

#include "model/native.h"
#include "model/recording.h"
#include "unit/unit.h"

static struct recording *rec;

static void setup(void)
{
	rec = rec_new();
	CU_ASSERT_PTR_NOT_NULL_FATAL(rec);
}

static void teardown(void)
{
	rec_free(rec);
}

static void a_change_has_all_its_methods_or_is_none(void)
{
	const struct rec_class_method methods[] = { { .name = 11 },
						    { .name = 12 },
						    { .name = 13 } };
	const struct rec_class_change *seen;
	struct rec_class_change change = { .method_count = 1 };

	ASSERT_INT(rec_class_change(rec, &change, methods), 1);
	change.method_count = REC_MAX_CLASS_METHODS;
	ASSERT_INT(rec_class_change(rec, &change, methods), 0);
	ASSERT_INT(rec_quality_sum(rec, REC_QUALITY_INFO), REC_MAX_CLASS_METHODS);
	change.method_count = 2;
	ASSERT_INT(rec_class_change(rec, &change, methods + 1), 2);
	change.method_count = 0;
	ASSERT_INT(rec_class_change(rec, &change, NULL), 3);
	seen = rec_class_change_get(rec, 2);
	ASSERT_INT(seen->first_method, 1);
	ASSERT_INT(rec_class_methods(rec)[seen->first_method + 1].name, 13);
	ASSERT_INT(rec_class_change_get(rec, 3)->method_count, 0);
	CU_ASSERT_PTR_NULL(rec_class_change_get(rec, 4));
	ASSERT_INT(rec_error(rec), 0);
}

static void changes_over_the_limit_leave_no_methods(void)
{
	const struct rec_class_method methods[] = { { .name = 11 }, { .name = 12 } };
	const struct rec_class_change none = { 0 }, two = { .method_count = 2 };

	for (uint32_t i = 1; i < REC_MAX_CLASS_CHANGES; i++)
		ASSERT_INT(rec_class_change(rec, &none, NULL), i);
	ASSERT_INT(rec_class_change(rec, &two, methods), REC_MAX_CLASS_CHANGES);
	ASSERT_INT(rec_class_change(rec, &two, methods), 0);
	ASSERT_INT(rec_class_change(rec, &two, methods), 0);
	ASSERT_INT(rec_quality_sum(rec, REC_QUALITY_INFO), 2);
	ASSERT_INT(rec_class_change_get(rec, REC_MAX_CLASS_CHANGES)->first_method, 0);
}

static void classes_over_the_limit_are_counted(void)
{
	const struct rec_class class = { .jvm = 1, .name = 5 };

	for (uint32_t i = 1; i <= REC_MAX_CLASSES; i++)
		CU_ASSERT_EQUAL_FATAL(rec_class(rec, &class), i);
	ASSERT_INT(rec_class(rec, &class), 0);
	ASSERT_INT(rec_classes_not_listed(rec), 1);
}

static void sites_are_found_by_their_key(void)
{
	struct rec_class_site site = { .jvm = 1, .pattern = 2, .loader_type = 3, .stack = 4 };

	ASSERT_INT(rec_class_site(rec, &site), 1);
	rec_class_site_get(rec, 1)->loaded = 7;
	site.bytes = 9; /* not of the key */
	ASSERT_INT(rec_class_site(rec, &site), 1);
	site.stack = 0;
	ASSERT_INT(rec_class_site(rec, &site), 2);
	ASSERT_INT(rec_class_site_get(rec, 1)->loaded, 7);
	while (rec_class_site_count(rec) < REC_MAX_CLASS_SITES) {
		site.stack++;
		CU_ASSERT_FATAL(rec_class_site(rec, &site) > 0);
	}
	site.stack++;
	ASSERT_INT(rec_class_site(rec, &site), 0);
	ASSERT_INT(rec_quality_sum(rec, REC_QUALITY_INFO), 1);
}

static void counters_are_those_of_a_jvm_and_name(void)
{
	size_t count;

	rec_class_count_set(rec, 1, "loaded", 5);
	rec_class_count_set(rec, 2, "loaded", 70);
	rec_class_count_set(rec, 1, "unloaded", 1);
	rec_class_count_set(rec, 1, "loaded", 6);
	ASSERT_INT(rec_class_counts(rec, &count)[0].value, 6);
	ASSERT_INT(count, 3);
	ASSERT_INT(rec_class_sum(rec, "loaded"), 76);
	ASSERT_INT(rec_class_sum(rec, "other"), 0);
}

static void the_start_of_a_jvm_is_not_seen_until_it_is(void)
{
	CU_ASSERT_PTR_NULL(rec_class_start_get(rec, 3));
	CU_ASSERT_PTR_NULL(rec_class_start(rec, 0));
	rec_class_start(rec, 3)->main_ns = 5;
	ASSERT_INT(rec_class_start_get(rec, 3)->main_ns, 5);
	ASSERT_INT(rec_class_start_get(rec, 2)->main_ns, 0);
	rec_class_start(rec, 2)->main_ns = 4;
	ASSERT_INT(rec_class_start_get(rec, 3)->main_ns, 5);
}

static void a_recording_without_classes_has_none(void)
{
	size_t count;

	CU_ASSERT_FALSE(rec_has_classes(rec));
	ASSERT_INT(rec_class_count(rec), 0);
	CU_ASSERT_PTR_NULL(rec_class_get(rec, 1));
	CU_ASSERT_PTR_NULL(rec_loader_get(rec, 1));
	CU_ASSERT_PTR_NULL(rec_class_agent_get(rec, 1));
	CU_ASSERT_PTR_NULL(rec_class_rules(rec, &count));
	ASSERT_INT(count, 0);
	ASSERT_INT(rec_class_sum(rec, "loaded"), 0);
}

static void a_loader_is_found_by_address_and_generation(void)
{
	struct rec_loader loader = { .jvm = 1, .address = 0x1000, .type = 7 };
	uint32_t first = rec_loader(rec, &loader);

	loader.type = 0;
	ASSERT_INT(rec_loader(rec, &loader), first);
	ASSERT_INT(rec_loader_get(rec, first)->type, 7);
	loader.generation = 1;
	CU_ASSERT_NOT_EQUAL(rec_loader(rec, &loader), first);
	ASSERT_INT(rec_loader_count(rec), 2);
}

static void rules_are_set_anew(void)
{
	struct rec_class_rule rule = { .jvm = 1, .text = 9, .loaded = 3 };
	const struct rec_class_rule *rules;
	size_t count;

	rec_class_rule_set(rec, &rule);
	rule.loaded = 4;
	rec_class_rule_set(rec, &rule);
	rule.jvm = 2;
	rec_class_rule_set(rec, &rule);
	rules = rec_class_rules(rec, &count);
	ASSERT_INT(count, 2);
	ASSERT_INT(rules[0].loaded, 4);
}

static uint32_t next_stack(uint32_t stack, void *ctx)
{
	*(int *)ctx += 1;
	return stack + 100;
}

static void all_stacks_can_be_changed(void)
{
	int changed = 0;

	rec_class(rec, &(struct rec_class){ .jvm = 1, .stack = 1 });
	rec_class_site(rec, &(struct rec_class_site){ .jvm = 1, .stack = 2 });
	rec_class_early(rec, &(struct rec_class_early){ .jvm = 1, .stack = 3 });
	rec_classes_each_stack(rec, next_stack, &changed);
	ASSERT_INT(changed, 3);
	ASSERT_INT(rec_class_get(rec, 1)->stack, 101);
	ASSERT_INT(rec_class_site_get(rec, 1)->stack, 102);
	ASSERT_INT(rec_class_earlies(rec, &(size_t){ 0 })[0].stack, 103);
}

static void the_budget_of_classes_is_no_native_memory(void)
{
	rec_budget(rec, REC_PROBES_CLASS, 1)->cost_pct = 1;
	CU_ASSERT_FALSE(rec_has_native(rec));
	rec_native_budget(rec, 1)->cost_pct = 2;
	CU_ASSERT_TRUE(rec_has_native(rec));
	CU_ASSERT_DOUBLE_EQUAL(rec_budget(rec, REC_PROBES_CLASS, 1)->cost_pct, 1, 0);
}

static CU_TestInfo tests[] = {
	{ "a change has all its methods or is none", a_change_has_all_its_methods_or_is_none },
	{ "changes over the limit leave no methods", changes_over_the_limit_leave_no_methods },
	{ "classes over the limit are counted", classes_over_the_limit_are_counted },
	{ "sites are found by their key", sites_are_found_by_their_key },
	{ "counters are those of a JVM and name", counters_are_those_of_a_jvm_and_name },
	{ "the start of a JVM is not seen until it is",
	  the_start_of_a_jvm_is_not_seen_until_it_is },
	{ "a recording without classes has none", a_recording_without_classes_has_none },
	{ "a loader is found by address and generation",
	  a_loader_is_found_by_address_and_generation },
	{ "rules are set anew", rules_are_set_anew },
	{ "all stacks can be changed", all_stacks_can_be_changed },
	{ "the budget of classes is no native memory", the_budget_of_classes_is_no_native_memory },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo model_classes_suite = {
	.pName = "classes",
	.pSetUpFunc = setup,
	.pTearDownFunc = teardown,
	.pTests = tests,
};
