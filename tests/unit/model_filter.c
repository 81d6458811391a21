/* SPDX-License-Identifier: Apache-2.0 */
#include "model/filter.h"

#include <errno.h>
#include <string.h>

#include "model/classes.h"
#include "trie/trie_rules.h"
#include "unit/unit.h"

static struct recording *rec;
static struct trie_words words;
static struct filter filter;

static const char rules[] = "1 java.*\n"
			    "1 lib.*\n"
			    "0 lib.example.*\n"
			    "3 lib.Exact\n"
			    "1 app.Main$$Lambda/0x7f*\n";

static void setup(void)
{
	rec = rec_new();
	CU_ASSERT_PTR_NOT_NULL_FATAL(rec);
	ASSERT_INT(trie_from_text(rules, strlen(rules), &words, NULL, NULL), 0);
}

static void teardown(void)
{
	filter_free(&filter);
	trie_words_free(&words);
	rec_free(rec);
}

static void begin(enum filter_mode mode)
{
	filter = (struct filter){ .rec = rec, .trie = trie_of(&words), .mode = mode };
}

static void apply(enum filter_mode mode, const char *source)
{
	begin(mode);
	ASSERT_INT(filter_apply(&filter, source), 0);
}

/* Applies a mode, and returns the totals that are left: so many. */
static const struct rec_total *apply_and_count(enum filter_mode mode, size_t expected)
{
	const struct rec_total *totals;
	size_t count;

	apply(mode, "file");
	totals = rec_totals(rec, &count);
	CU_ASSERT_EQUAL_FATAL(count, expected);
	return totals;
}

static uint32_t string_of(const char *text)
{
	return *text ? rec_string(rec, text, strlen(text)) : 0;
}

static uint32_t frame_with(const char *class_name, const char *raw, const char *name,
			   enum rec_frame_kind kind)
{
	struct rec_method method = {
		.class_name = string_of(class_name),
		.raw_class = string_of(raw),
		.name = string_of(name),
	};
	struct rec_frame frame = { .method = rec_method(rec, &method), .kind = kind, .line = 1 };

	return rec_frame(rec, &frame);
}

/* "java.lang.Thread" is a Java frame, "start_thread" is native code. */
static uint32_t frame_of(const char *name)
{
	if (strchr(name, '.'))
		return frame_with(name, "", "run", REC_FRAME_C2);
	return frame_with("", "", name, REC_FRAME_CPP);
}

/* Names leaf first, split at blanks. */
static size_t frames_of(const char *names, uint32_t *frames)
{
	char copy[256];
	size_t count = 0;

	snprintf(copy, sizeof(copy), "%s", names);
	for (char *name = strtok(copy, " "); name; name = strtok(NULL, " "))
		frames[count++] = frame_of(name);
	return count;
}

static void add_of(enum rec_metric metric, const char *names, uint32_t thread, int64_t count)
{
	uint32_t frames[16];
	size_t depth = frames_of(names, frames);
	struct rec_key key = {
		.metric = metric,
		.jvm = 1,
		.thread = thread,
		.stack = depth ? rec_stack(rec, frames, depth, REC_STACK_COMPLETE) : 0,
	};

	rec_add(rec, &key, count, count * 10);
}

static void add(const char *names, uint32_t thread, int64_t count)
{
	add_of(REC_CPU, names, thread, count);
}

/* The names of a stack, as add() takes them, with ".run" behind those of Java frames. */
static const char *text_of_stack(uint32_t id)
{
	static char text[512];
	struct rec_stack stack = rec_stack_get(rec, id);
	size_t len = 0;

	text[0] = '\0';
	for (uint32_t i = 0; i < stack.count; i++) {
		char name[128];

		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s", i ? " " : "",
					rec_frame_text(rec, stack.frames[i], name, sizeof(name)));
	}
	return text;
}

static const struct rec_rule *rule_named(const char *text)
{
	for (uint32_t id = 1; id <= rec_rule_count(rec); id++) {
		if (!strcmp(rec_text(rec, rec_rule_get(rec, id)->text), text))
			return rec_rule_get(rec, id);
	}
	return NULL;
}

static void check_rule(const char *text, uint32_t number, uint64_t frames, uint64_t classes)
{
	const struct rec_rule *rule = rule_named(text);

	CU_ASSERT_PTR_NOT_NULL_FATAL(rule);
	ASSERT_INT(rule->number, number);
	ASSERT_INT(rule->frames, frames);
	ASSERT_INT(rule->classes, classes);
}

static void each_frame_is_one_of_three_kinds(void)
{
	static const struct {
		const char *name;
		enum filter_code code;
	} cases[] = {
		{ "java.lang.Thread", FILTER_LIBRARY },	      { "java.", FILTER_LIBRARY },
		{ "javax.swing.JFrame", FILTER_APPLICATION }, { "lib.a.B", FILTER_LIBRARY },
		{ "lib.example.Main", FILTER_APPLICATION },   { "lib.Exact", FILTER_LIBRARY },
		{ "app.Main", FILTER_APPLICATION },	      { "start_thread", FILTER_NOT_JAVA },
	};

	begin(FILTER_MARK);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		ASSERT_INT(filter_code(&filter, frame_of(cases[i].name)), cases[i].code);
	ASSERT_INT(filter_code(&filter, 0), FILTER_NOT_JAVA);
	/* A Java frame whose name could not be read. */
	ASSERT_INT(filter_code(&filter, frame_with("", "", "", REC_FRAME_C1)), FILTER_APPLICATION);
}

static void hidden_classes_are_looked_up_by_their_own_name(void)
{
	uint32_t library =
		frame_with("app.Main$$Lambda", "app.Main$$Lambda/0x7f01", "run", REC_FRAME_C1);
	uint32_t application =
		frame_with("app.Main$$Lambda", "app.Main$$Lambda/0x8001", "run", REC_FRAME_C1);

	begin(FILTER_MARK);
	ASSERT_INT(filter_code(&filter, library), FILTER_LIBRARY);
	ASSERT_INT(filter_code(&filter, application), FILTER_APPLICATION);
	check_rule("app.Main$$Lambda.0x7f*", 1, 0, 1);
}

/* U+1D518 as the JVM has it, and as UTF-8 that another program has written. */
static void characters_of_four_bytes_are_two_surrogates(void)
{
	static const char *const names[] = { "app.\xed\xa0\xb5\xed\xb4\x98.A",
					     "app.\xf0\x9d\x94\x98.A" };

	trie_words_free(&words);
	ASSERT_INT(trie_from_text("5 app.\xf0\x9d\x94\x98.*\n", 13, &words, NULL, NULL), 0);
	begin(FILTER_MARK);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		ASSERT_INT(filter_code(&filter, frame_of(names[i])), FILTER_LIBRARY);
		check_rule("app.\xed\xa0\xb5\xed\xb4\x98.*", 5, 0, i + 1);
	}
	ASSERT_INT(rec_rule_count(rec), 1);
	ASSERT_INT(filter_code(&filter, frame_of("app.\xf0\x9d\x94.A")), FILTER_APPLICATION);
}

static void mark_counts_and_takes_nothing_away(void)
{
	static const char deep[] =
		"memcpy java.util.List java.util.List app.Main java.lang.Thread c";
	uint32_t rule = 0;
	size_t count;

	add(deep, 1, 3);
	add("lib.Exact lib.example.A lib.b.C", 1, 2);
	add("gc_work start_thread", 2, 4);
	add("", 2, 1);
	apply(FILTER_MARK, "built-in");

	check_rule("java.*", 1, 3 * 3, 2);
	check_rule("lib.*", 1, 2, 1);
	check_rule("lib.Exact", 3, 2, 1);
	check_rule("lib.example.*", 0, 2, 1);
	ASSERT_INT(rec_rule_count(rec), 4);
	ASSERT_INT(rec_filter_get(rec)->free_frames, 3);
	ASSERT_INT(rec_filter_get(rec)->free_classes, 1);

	ASSERT_INT(rec_filter_get(rec)->library, 3 + 2);
	ASSERT_INT(rec_filter_get(rec)->application, 0);
	ASSERT_INT(rec_filter_get(rec)->no_java, 4 + 1);
	ASSERT_INT(rec_filter_get(rec)->with_application, 3 + 2);
	ASSERT_INT(rec_filter_get(rec)->dropped, 0);
	CU_ASSERT_STRING_EQUAL(rec_text(rec, rec_filter_get(rec)->mode), "mark");
	CU_ASSERT_STRING_EQUAL(rec_text(rec, rec_filter_get(rec)->trie), "built-in");

	rec_totals(rec, &count);
	ASSERT_INT(count, 4);
	CU_ASSERT_STRING_EQUAL(text_of_stack(1), "memcpy java.util.List.run java.util.List.run "
						 "app.Main.run java.lang.Thread.run c");
	ASSERT_INT(rec_method_rule(rec, rec_frame_get(rec, 2)->method, &rule), 1);
	CU_ASSERT_STRING_EQUAL(rec_text(rec, rec_rule_get(rec, rule)->text), "java.*");
	ASSERT_INT(rec_method_rule(rec, rec_frame_get(rec, 1)->method, &rule), 0);
}

/* Blocks of memory and classes have stacks, too, but are no samples; their classes are classes. */
static void frames_are_those_of_cpu_samples(void)
{
	add("java.a.B app.Main", 1, 3);
	for (int metric = REC_CPU + 1; metric < REC_METRIC_NR; metric++) {
		add_of((enum rec_metric)metric, "java.a.B app.Main", 1, 1000);
		add_of((enum rec_metric)metric, "java.c.D app.Other", 1, 1000);
	}
	apply(FILTER_DROP, "built-in");
	check_rule("java.*", 1, 3, 2);
	ASSERT_INT(rec_filter_get(rec)->free_frames, 3);
	ASSERT_INT(rec_filter_get(rec)->free_classes, 2);
	ASSERT_INT(rec_filter_get(rec)->library, 3);
	ASSERT_INT(rec_filter_get(rec)->with_application, 3);
	ASSERT_INT(rec_filter_get(rec)->dropped, 0);
}

static void classes_that_were_loaded_have_their_rule(void)
{
	const char *names[] = { "java.a.B", "app.Main", "java.c.D", "java.a.B" };

	add("java.a.B app.Main", 1, 3);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const struct rec_class class = { .jvm = 1, .name = string_of(names[i]) };

		ASSERT_INT(rec_class(rec, &class), i + 1);
	}
	apply(FILTER_FOLD, "built-in");
	check_rule("java.*", 1, 3, 2);
	ASSERT_INT(rec_filter_get(rec)->free_classes, 1);
	for (uint32_t id = 1; id <= ARRAY_SIZE(names); id++)
		CU_ASSERT_PTR_EQUAL(rec_rule_get(rec, rec_class_get(rec, id)->rule),
				    id == 2 ? NULL : rule_named("java.*"));
}

/* What is seen one by one is what a whole recording becomes. */
static void fold_joins_runs_of_library_frames(void)
{
	static const struct {
		const char *before;
		const char *after;
		bool application;
	} cases[] = {
		{ "java.a.B java.a.C app.Main java.a.D c", "[library] app.Main.run [library] c",
		  true },
		{ "java.a.B", "[library]", false },
		{ "java.a.B stub java.a.B", "[library] stub [library]", false },
		{ "app.A lib.B lib.Exact java.C app.D", "app.A.run [library] app.D.run", true },
		{ "lib.a.B lib.example.C", "[library] lib.example.C.run", true },
		{ "gc_work start_thread", "gc_work start_thread", false },
		{ "", "", false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		for (int mode = FILTER_FOLD; mode <= FILTER_DROP; mode++) {
			uint32_t frames[16];
			size_t count = frames_of(cases[i].before, frames);
			uint32_t stack;

			begin((enum filter_mode)mode);
			ASSERT_INT(filter_stack(&filter, frames, &count),
				   mode == FILTER_FOLD || cases[i].application);
			stack = count ? rec_stack(rec, frames, count, REC_STACK_COMPLETE) : 0;
			CU_ASSERT_STRING_EQUAL(text_of_stack(stack), cases[i].after);
			filter_free(&filter);
		}
	}
}

static void folded_stacks_that_are_equal_become_one(void)
{
	const struct rec_total *totals;

	add("java.a.B app.Main c", 1, 3);
	add("lib.x.Y java.a.C app.Main c", 1, 4);
	add("lib.x.Y app.Main c", 2, 5);
	add("app.Other", 1, 1);
	totals = apply_and_count(FILTER_FOLD, 3);
	ASSERT_INT(rec_stack_count(rec), 2);
	ASSERT_INT(totals[0].count, 7);
	ASSERT_INT(totals[0].value, 70);
	ASSERT_INT(totals[1].key.thread, 2);
	ASSERT_INT(totals[1].key.stack, totals[0].key.stack);
	CU_ASSERT_STRING_EQUAL(text_of_stack(totals[0].key.stack), "[library] app.Main.run c");
	/* [library], app.Main, c, app.Other: nothing else is left. */
	ASSERT_INT(rec_frame_count(rec), 4);
	ASSERT_INT(rec_method_count(rec), 4);
	check_rule("java.*", 1, 7, 2);
	ASSERT_INT(rec_filter_get(rec)->library, 12);
	ASSERT_INT(rec_filter_get(rec)->application, 1);
}

static void drop_takes_out_what_has_no_application_frame(void)
{
	const struct rec_total *totals;
	uint32_t rule = 9;

	add("java.a.B java.a.C c", 1, 3);
	add("gc_work", 1, 4);
	add("", 1, 5);
	add("java.a.B app.Main", 1, 6);
	totals = apply_and_count(FILTER_DROP, 1);
	ASSERT_INT(totals[0].count, 6);
	CU_ASSERT_STRING_EQUAL(text_of_stack(totals[0].key.stack), "[library] app.Main.run");
	ASSERT_INT(rec_filter_get(rec)->dropped, 12);
	ASSERT_INT(rec_filter_get(rec)->library, 9);
	ASSERT_INT(rec_filter_get(rec)->no_java, 9);
	ASSERT_INT(rec_filter_get(rec)->with_application, 6);
	/* Methods keep what was said of them. */
	ASSERT_INT(rec_method_rule(rec, rec_frame_get(rec, 2)->method, &rule), 1);
	ASSERT_INT(rule, 0);
}

/* One row each time, as an output that says when needs them. */
static void add_rows(const char *names, int64_t count)
{
	uint32_t frames[16];
	size_t depth = frames_of(names, frames);
	struct rec_sample sample = { .key = { .metric = REC_CPU, .jvm = 1, .thread = 1 } };

	add(names, 1, count);
	sample.key.stack = depth ? rec_stack(rec, frames, depth, REC_STACK_COMPLETE) : 0;
	for (int64_t i = 0; i < count; i++) {
		sample.time_ns = i;
		rec_sample(rec, &sample);
	}
}

static void rows_of_samples_go_with_their_stacks(void)
{
	const struct rec_sample *samples;
	size_t count;

	rec_samples_keep(rec, true);
	add_rows("java.a.B c", 2);
	add_rows("", 1);
	add_rows("java.a.B app.Main", 3);
	apply(FILTER_DROP, "file");
	samples = rec_samples(rec, &count);
	ASSERT_INT(count, 3);
	for (size_t i = 0; i < count; i++) {
		ASSERT_INT(samples[i].time_ns, i);
		CU_ASSERT_STRING_EQUAL(text_of_stack(samples[i].key.stack),
				       "[library] app.Main.run");
	}
}

static void off_does_nothing(void)
{
	uint32_t frames[16], rule;
	size_t count = frames_of("java.a.B java.a.C", frames);

	add("java.a.B java.a.C", 1, 3);
	begin(FILTER_OFF);
	ASSERT_INT(filter_stack(&filter, frames, &count), 1);
	ASSERT_INT(count, 2);
	ASSERT_INT(filter_code(&filter, frames[0]), FILTER_APPLICATION);
	ASSERT_INT(filter_apply(&filter, "file"), 0);
	ASSERT_INT(rec_filter_get(rec)->mode, 0);
	ASSERT_INT(rec_rule_count(rec), 0);
	ASSERT_INT(rec_method_rule(rec, 1, &rule), 0);
}

static void without_rules_all_is_application_code(void)
{
	trie_words_free(&words);
	ASSERT_INT(trie_from_text("", 0, &words, NULL, NULL), 0);
	add("java.a.B c", 1, 3);
	apply(FILTER_DROP, "none");
	ASSERT_INT(rec_filter_get(rec)->application, 3);
	ASSERT_INT(rec_filter_get(rec)->dropped, 0);
	CU_ASSERT_STRING_EQUAL(text_of_stack(1), "java.a.B.run c");
}

static CU_TestInfo tests[] = {
	{ "each frame is one of three kinds", each_frame_is_one_of_three_kinds },
	{ "hidden classes are looked up by their own name",
	  hidden_classes_are_looked_up_by_their_own_name },
	{ "characters of four bytes are two surrogates",
	  characters_of_four_bytes_are_two_surrogates },
	{ "mark counts and takes nothing away", mark_counts_and_takes_nothing_away },
	{ "frames are those of CPU samples", frames_are_those_of_cpu_samples },
	{ "classes that were loaded have their rule", classes_that_were_loaded_have_their_rule },
	{ "fold joins runs of library frames", fold_joins_runs_of_library_frames },
	{ "folded stacks that are equal become one", folded_stacks_that_are_equal_become_one },
	{ "drop takes out what has no application frame",
	  drop_takes_out_what_has_no_application_frame },
	{ "rows of samples go with their stacks", rows_of_samples_go_with_their_stacks },
	{ "off does nothing", off_does_nothing },
	{ "without rules all is application code", without_rules_all_is_application_code },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo model_filter_suite = {
	.pName = "filter",
	.pSetUpFunc = setup,
	.pTearDownFunc = teardown,
	.pTests = tests,
};
