/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "jvm/loader.h"
#include "live/classes_impl.h"
#include "live/process.h"
#include "model/recording.h"
#include "target/target.h"
#include "trie/trie_find.h"

/* Loads before the JVM could be read; and rules, by which those are ignored as the kernel does. */

/* ---- early loads */

/* Of a JVM that never becomes readable they come as long as it runs. */
#define EARLY_MAX (1u << 16)

void classes_keep_early(struct class_target *t, const struct jvs_class_event *event)
{
	size_t capacity = t->early_capacity ? t->early_capacity * 2 : 1024;
	struct class_early *early;

	if (t->early_count == t->early_capacity) {
		early = capacity <= EARLY_MAX ? reallocarray(t->early, capacity, sizeof(*early))
					      : NULL;
		if (!early) {
			t->early_lost++;
			return;
		}
		t->early = early;
		t->early_capacity = capacity;
	}
	t->early[t->early_count++] =
		(struct class_early){ event->klass, event->event.time_ns, event->event.tid };
}

static struct rec_class_rule *ignored_rule(struct classes *c, const struct rec_class_rule *like)
{
	size_t capacity = c->ignored.capacity ? c->ignored.capacity * 2 : 64;
	struct rec_class_rule *rules;

	for (size_t i = 0; i < c->ignored.count; i++) {
		rules = &c->ignored.rules[i];
		if (rules->jvm == like->jvm && rules->text == like->text)
			return rules;
	}
	if (c->ignored.count == c->ignored.capacity) {
		rules = reallocarray(c->ignored.rules, capacity, sizeof(*rules));
		if (!rules)
			return NULL;
		c->ignored.rules = rules;
		c->ignored.capacity = capacity;
	}
	rules = &c->ignored.rules[c->ignored.count++];
	*rules = *like;
	return rules;
}

/* The text of a rule that matched the start of a name. */
static uint32_t rule_text(struct recording *rec, const char *name, size_t matched, bool glob)
{
	char text[JVS_CLASS_RULE_MAX + 2];

	if (matched > JVS_CLASS_RULE_MAX)
		matched = JVS_CLASS_RULE_MAX;
	for (size_t i = 0; i < matched; i++)
		if ((text[i] = name[i]) == '/')
			text[i] = '.';
	text[matched] = glob ? '*' : '\0';
	return rec_string(rec, text, matched + glob);
}

/* As the kernel does it. Returns whether the class was only counted. */
static bool ignore_early(struct classes *classes, const struct process *p, struct recording *rec,
			 const struct jvs_class_event *event)
{
	struct rec_class_rule like = { .jvm = p->rec_jvm }, *rule;
	struct trie_match match;

	if (!classes->trie.count)
		return false;
	match = trie_match(&classes->trie, event->name, event->name_bytes, 0);
	if (match.number <= 0)
		return false;
	like.number = (uint32_t)match.number;
	like.text = rule_text(rec, event->name, match.matched, match.glob);
	rule = ignored_rule(classes, &like);
	if (rule)
		rule->loaded++;
	return rule != NULL;
}

/* Fills an event as the kernel would have, had it known the layout. Returns whether it could. */
static bool read_early(const struct target *target, const struct jvs_class_layout *layout,
		       const struct class_early *early, struct jvs_class_event *event, bool *array)
{
	uint64_t loader;
	uint32_t helper;
	int len;

	*array = false;
	event->event.time_ns = early->time_ns;
	event->event.tid = early->tid;
	event->klass = early->klass;
	event->flags = 0;
	if (early->klass >= layout->archive_low && early->klass < layout->archive_high)
		event->flags = JVS_CLASS_ARCHIVED;
	if (target_read_u32(target, early->klass + layout->klass_layout_helper, &helper))
		return false;
	if ((int32_t)helper < 0) {
		*array = true;
		return true;
	}
	event->symbol = loader_class_symbol(target, layout, early->klass);
	if (target_read_u64(target, early->klass + layout->klass_cld, &loader))
		return false;
	event->loader = loader;
	len = loader_symbol(target, layout, event->symbol, event->name, sizeof(event->name));
	if (len <= 0)
		return false;
	event->name_len = (uint32_t)len;
	event->name_bytes = len < JVS_CLASS_NAME_MAX ? (uint32_t)len : JVS_CLASS_NAME_MAX;
	return true;
}

void classes_name_early(struct classes *classes, struct decoder *d, struct process *p,
			struct recording *rec)
{
	struct class_target *t = &classes->targets[p->index];
	struct jvs_class_event event = { 0 };
	const struct jvs_class_layout *layout = &classes->layouts[p->index];
	size_t left = 0;
	bool array;

	for (size_t i = 0; i < t->early_count; i++) {
		if (!read_early(p->target, layout, &t->early[i], &event, &array))
			t->early[left++] = t->early[i];
		else if (array)
			t->early_arrays++;
		else if (!ignore_early(classes, p, rec, &event))
			classes_add(classes, d, p, rec, &event);
	}
	t->early_count = left;
}

/* ---- rules */

void classes_add_rule(struct classes *classes, const struct process *p, struct recording *rec,
		      const struct jvs_class_rule_key *key, const struct jvs_class_rule *value)
{
	struct rec_class_rule rule = {
		.jvm = p->rec_jvm,
		.number = key->number & TRIE_NUMBER,
		.loaded = value->loaded,
		.unloaded = value->unloaded,
		.bytes = value->bytes,
		.parse_ns = value->parse_ns,
		.transform_ns = value->transform_ns,
		.link_ns = value->link_ns,
		.initialize_ns = value->initialize_ns,
	};

	rule.text = rule_text(rec, value->text, value->text_len, key->number & TRIE_GLOB);
	for (size_t i = 0; i < classes->ignored.count; i++) {
		const struct rec_class_rule *early = &classes->ignored.rules[i];

		if (early->jvm == rule.jvm && early->text == rule.text)
			rule.loaded += early->loaded;
	}
	rec_class_rule_set(rec, &rule);
}
