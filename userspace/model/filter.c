/* SPDX-License-Identifier: Apache-2.0 */
#include "model/filter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "model/classes.h"
#include "trie/trie_find.h"
#include "trie/trie_name.h"

#define LIBRARY "[library]"

const char *filter_mode_name(enum filter_mode mode)
{
	static const char *const names[FILTER_MODE_NR] = {
		[FILTER_MARK] = "mark",
		[FILTER_FOLD] = "fold",
		[FILTER_DROP] = "drop",
		[FILTER_OFF] = "off",
	};

	return names[mode];
}

/* ---- rules of classes and methods */

/* The rule as a list of rules has it: what matched is its key. */
static uint32_t add_rule(struct filter *filter, const char *name, const struct trie_match *match)
{
	struct strbuf text = { 0 };
	uint32_t id;

	strbuf_add(&text, name, match->matched);
	if (match->glob)
		strbuf_puts(&text, "*");
	for (size_t i = 0; i < text.len; i++) {
		if (text.text[i] == '/')
			text.text[i] = '.';
	}
	if (text.truncated)
		filter->err = -ENOMEM;
	id = rec_string(filter->rec, strbuf_text(&text), text.len);
	strbuf_free(&text);
	return rec_rule(filter->rec, id, (uint32_t)match->number);
}

/* The rule of a name in the JVM's modified UTF-8, added to the recording; 0 none. */
static uint32_t rule_of_name(struct filter *filter, const char *name, size_t len)
{
	struct trie_match match = trie_match(&filter->trie, name, len, 0);

	return match.number == TRIE_NONE ? 0 : add_rule(filter, name, &match);
}

/*
 * Names are the JVM's or, in an imported recording, UTF-8. They differ in characters of four
 * bytes, which the JVM has none of: two surrogates take six.
 */
static uint32_t rule_of_utf8(struct filter *filter, const char *name, size_t len)
{
	char *jvm_name = malloc(3 * len);
	long size = jvm_name ? trie_name_from_utf8(name, len, (uint8_t *)jvm_name, 3 * len) : -1;
	uint32_t rule = 0;

	if (!jvm_name)
		filter->err = -ENOMEM;
	if (size >= 0)
		rule = rule_of_name(filter, jvm_name, (size_t)size);
	free(jvm_name);
	return rule;
}

static bool has_four_bytes(const char *name)
{
	for (; *name; name++) {
		if ((uint8_t)*name >= 0xf0)
			return true;
	}
	return false;
}

static uint32_t rule_of_class(struct filter *filter, uint32_t class_name)
{
	struct recording *rec = filter->rec;
	const char *name = rec_text(rec, class_name);
	uint32_t rule = 0;

	if (map64_get(&filter->classes, class_name, &rule))
		return rule;
	rule = has_four_bytes(name) ? rule_of_utf8(filter, name, strlen(name))
				    : rule_of_name(filter, name, strlen(name));
	if (map64_set(&filter->classes, class_name, rule))
		filter->err = -ENOMEM;
	if (rule)
		rec_rule_get(rec, rule)->classes++;
	else
		rec_filter(rec)->free_classes++;
	return rule;
}

/* Hidden classes are looked up by the name that they have, not by the one that is shown. */
static uint32_t rule_of_method(struct filter *filter, uint32_t id)
{
	const struct rec_method *method = rec_method_get(filter->rec, id);
	uint32_t rule;

	if (rec_method_rule(filter->rec, id, &rule))
		return rule;
	rule = rule_of_class(filter, method->raw_class ? method->raw_class : method->class_name);
	rec_method_rule_set(filter->rec, id, rule);
	return rule;
}

static bool has_class(const struct recording *rec, uint32_t method)
{
	return rec_method_get(rec, method)->class_name != 0;
}

static enum filter_code code_of_rule(const struct recording *rec, uint32_t rule)
{
	return rule && rec_rule_get(rec, rule)->number > 0 ? FILTER_LIBRARY : FILTER_APPLICATION;
}

enum filter_code filter_code(struct filter *filter, uint32_t frame)
{
	const struct rec_frame *of = rec_frame_get(filter->rec, frame);

	if (!rec_kind_is_java(of->kind))
		return FILTER_NOT_JAVA;
	if (filter->mode == FILTER_OFF || !has_class(filter->rec, of->method))
		return FILTER_APPLICATION;
	return code_of_rule(filter->rec, rule_of_method(filter, of->method));
}

/* ---- one stack */

static uint32_t library_frame(struct filter *filter)
{
	struct rec_method method = { 0 };
	struct rec_frame frame = { .kind = REC_FRAME_STUB, .line = -1, .bci = -1 };

	if (!filter->library_frame) {
		method.name = rec_string(filter->rec, LIBRARY, strlen(LIBRARY));
		frame.method = rec_method(filter->rec, &method);
		filter->library_frame = rec_frame(filter->rec, &frame);
	}
	return filter->library_frame;
}

bool filter_stack(struct filter *filter, uint32_t *frames, size_t *count)
{
	bool application = false;
	size_t kept = 0;

	if (filter->mode != FILTER_FOLD && filter->mode != FILTER_DROP)
		return true;
	for (size_t i = 0; i < *count; i++) {
		enum filter_code code = filter_code(filter, frames[i]);
		uint32_t frame = code == FILTER_LIBRARY ? library_frame(filter) : frames[i];

		application |= code == FILTER_APPLICATION;
		if (code != FILTER_LIBRARY || !kept || frames[kept - 1] != frame)
			frames[kept++] = frame;
	}
	*count = kept;
	return application || filter->mode != FILTER_DROP;
}

/* ---- the whole recording */

/* How many CPU samples have each stack. Other metrics count blocks or classes, which do not add. */
static void count_samples(const struct recording *rec, uint64_t *samples)
{
	size_t count;
	const struct rec_total *totals = rec_totals(rec, &count);

	for (size_t i = 0; i < count; i++) {
		if (totals[i].key.metric == REC_CPU && totals[i].count > 0)
			samples[totals[i].key.stack] += (uint64_t)totals[i].count;
	}
}

static void count_frame(struct filter *filter, uint32_t frame, uint64_t times)
{
	uint32_t method = rec_frame_get(filter->rec, frame)->method;
	uint32_t rule = 0;

	if (rec_method_rule(filter->rec, method, &rule) && rule)
		rec_rule_get(filter->rec, rule)->frames += times;
	else
		rec_filter(filter->rec)->free_frames += times;
}

static void count_stack(struct filter *filter, uint32_t id, uint64_t samples)
{
	struct rec_stack stack = rec_stack_get(filter->rec, id);
	struct rec_filter *result = rec_filter(filter->rec);
	enum filter_code innermost = FILTER_NOT_JAVA;
	bool application = false;

	for (uint32_t i = 0; i < stack.count; i++) {
		enum filter_code code = filter_code(filter, stack.frames[i]);

		if (code == FILTER_NOT_JAVA)
			continue;
		if (innermost == FILTER_NOT_JAVA)
			innermost = code;
		application |= code == FILTER_APPLICATION;
		count_frame(filter, stack.frames[i], samples);
	}
	result->application += innermost == FILTER_APPLICATION ? samples : 0;
	result->library += innermost == FILTER_LIBRARY ? samples : 0;
	result->no_java += innermost == FILTER_NOT_JAVA ? samples : 0;
	result->with_application += application ? samples : 0;
	result->dropped += !application && filter->mode == FILTER_DROP ? samples : 0;
}

static int count_all(struct filter *filter)
{
	struct recording *rec = filter->rec;
	uint64_t *samples = calloc((size_t)rec_stack_count(rec) + 1, sizeof(*samples));

	if (!samples)
		return -ENOMEM;
	count_samples(rec, samples);
	for (uint32_t id = 0; id <= rec_stack_count(rec); id++) {
		if (samples[id])
			count_stack(filter, id, samples[id]);
	}
	free(samples);
	return 0;
}

static void look_up_methods(struct filter *filter)
{
	for (uint32_t id = 1; id <= rec_method_count(filter->rec); id++) {
		if (has_class(filter->rec, id))
			rule_of_method(filter, id);
	}
}

static void look_up_classes(struct filter *filter)
{
	for (uint32_t id = 1; id <= rec_class_count(filter->rec); id++) {
		struct rec_class *class = rec_class_get(filter->rec, id);

		if (class)
			class->rule = rule_of_class(filter, class->name);
	}
}

static bool edit_stack(uint32_t *frames, size_t *count, void *ctx)
{
	return filter_stack(ctx, frames, count);
}

int filter_count(struct filter *filter, const char *source)
{
	struct recording *rec = filter->rec;
	const char *mode_name = filter_mode_name(filter->mode);
	uint32_t mode, trie;
	int err;

	if (filter->mode == FILTER_OFF)
		return 0;
	look_up_methods(filter);
	look_up_classes(filter);
	err = count_all(filter);
	mode = rec_string(rec, mode_name, strlen(mode_name));
	trie = rec_string(rec, source, strlen(source));
	if (!err)
		err = filter->err ? filter->err : rec_error(rec);
	if (err)
		return err;
	rec_filter(rec)->mode = mode;
	rec_filter(rec)->trie = trie;
	return 0;
}

int filter_edit(struct filter *filter)
{
	struct recording *rec = filter->rec;
	int err;

	if (filter->mode != FILTER_FOLD && filter->mode != FILTER_DROP)
		return 0;
	/* Made now: rec_edit_stacks() reads the frames while it goes. */
	library_frame(filter);
	err = rec_error(rec);
	if (!err)
		err = rec_edit_stacks(rec, edit_stack, filter);
	filter->library_frame = 0;
	if (err)
		rec_filter(rec)->mode = 0;
	return err;
}

int filter_apply(struct filter *filter, const char *source)
{
	int err = filter_count(filter, source);

	return err ? err : filter_edit(filter);
}

void filter_free(struct filter *filter)
{
	map64_free(&filter->classes);
	*filter = (struct filter){ 0 };
}
