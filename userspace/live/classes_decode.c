/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "jvm/loader.h"
#include "live/classes_impl.h"
#include "live/decode.h"
#include "live/process.h"
#include "model/names.h"
#include "model/recording.h"
#include "target/target.h"

/* Records of class loads to rows of the recording. */

#define INSTRUMENTATION "sun.instrument.InstrumentationImpl" /* calls premain */
#define UNLISTED	0x80000000u /* in class_target.live: the rest is a site */

/* What a record is about, with everything found. */
struct seen {
	struct classes *classes;
	struct decoder *d;
	struct process *p;
	struct class_target *t;
	struct recording *rec;
	const struct jvs_class_event *event;
	const char *name; /* as the JVM has it; valid until the next record */
	size_t name_len;
	bool cut;
};

/* ---- names */

/* "gen.p12.C3" to "gen.p#.C#": what is numbered is of one kind. */
static void make_pattern(const char *name, struct strbuf *to)
{
	strbuf_reset(to);
	while (*name) {
		size_t text = strcspn(name, "0123456789");

		strbuf_add(to, name, text);
		name += text;
		if (!*name)
			return;
		strbuf_puts(to, "#");
		name += strspn(name, "0123456789");
	}
}

/* The whole of a name that did not fit its record, if it still is where it was. */
static char *read_long_name(const struct seen *s)
{
	const struct jvs_class_layout *layout = &s->classes->layouts[s->p->index];
	char *name = malloc(LOADER_NAME_MAX);

	if (!name)
		return NULL;
	if (loader_symbol(s->p->target, layout, s->event->symbol, name, LOADER_NAME_MAX) ==
		    (int)s->event->name_len &&
	    !memcmp(name, s->event->name, s->event->name_bytes))
		return name;
	free(name);
	return NULL;
}

/* The two Java forms of the event's name. */
static void take_names(struct seen *s)
{
	struct classes *c = s->classes;
	char *whole = NULL;

	s->name = s->event->name;
	s->name_len = s->event->name_bytes;
	if (s->event->name_bytes < s->event->name_len) {
		whole = read_long_name(s);
		s->cut = !whole;
	}
	if (whole)
		names_class(whole, s->event->name_len, &c->normal, &c->raw);
	else
		names_class(s->name, s->name_len, &c->normal, &c->raw);
	free(whole);
	make_pattern(strbuf_text(&c->normal), &c->text);
}

static uint32_t name_string(const struct seen *s)
{
	const struct strbuf *raw = &s->classes->raw, *normal = &s->classes->normal;

	return classes_string(s->rec, strbuf_text(raw->len ? raw : normal));
}

/* ---- loads */

static uint32_t site_of(struct seen *s, uint32_t loader, uint32_t stack)
{
	const struct rec_loader *row = rec_loader_get(s->rec, loader);
	struct rec_class_site site = {
		.jvm = s->p->rec_jvm,
		.pattern = classes_string(s->rec, strbuf_text(&s->classes->text)),
		.loader_type = row ? row->type : 0,
		.stack = stack,
	};

	return rec_class_site(s->rec, &site);
}

static uint32_t flags_of(const struct seen *s)
{
	uint32_t in = s->event->flags | s->event->facts.flags, flags = 0;

	flags |= in & JVS_CLASS_PARSED ? REC_CLASS_PARSED : 0;
	flags |= in & JVS_CLASS_HOOKED ? REC_CLASS_HOOKED : 0;
	flags |= in & JVS_CLASS_TRANSFORMED ? REC_CLASS_TRANSFORMED : 0;
	flags |= in & JVS_CLASS_ARCHIVED ? REC_CLASS_ARCHIVED : 0;
	flags |= in & JVS_CLASS_PREMAIN ? REC_CLASS_PREMAIN : 0;
	flags |= s->cut ? REC_CLASS_NAME_CUT : 0;
	flags |= s->classes->raw.len ? REC_CLASS_HIDDEN : 0;
	return flags;
}

static void fill_facts(struct seen *s, struct rec_class *row)
{
	const struct jvs_class_facts *facts = &s->event->facts;

	row->bytes = facts->bytes;
	row->bytes_after = facts->bytes_after;
	row->read_ns = facts->read_ns;
	row->parse_ns = facts->parse_ns;
	row->nested_ns = facts->nested_ns;
	row->transform_ns = facts->transform_ns;
	if (facts->start_ns && facts->start_ns < s->event->event.time_ns)
		row->duration_ns = s->event->event.time_ns - facts->start_ns;
	if (facts->source_len && facts->source_len <= sizeof(facts->source))
		row->source = rec_string(s->rec, facts->source, facts->source_len);
	if (facts->bytes_id)
		row->change = classes_take_change(s->t, facts->bytes_id);
}

static uint32_t stack_of(struct seen *s)
{
	uint32_t stack = 0;

	if (s->event->stack && !decode_stack(s->d, s->event->stack, &stack))
		s->classes->lost_stack++;
	return stack;
}

/* For outputs that print totals of stacks. */
static void count_load(struct seen *s, const struct rec_class *row)
{
	const struct rec_key key = { .metric = REC_CLASS_LOAD,
				     .jvm = row->jvm,
				     .stack = row->stack,
				     .thread = row->thread };

	rec_add(s->rec, &key, 1, 1);
}

/* A load, or with REC_CLASS_REDEFINED a redefinition. */
static void add_class(struct seen *s, uint32_t more_flags)
{
	const struct jvs_class_event *event = s->event;
	struct rec_class row = { .jvm = s->p->rec_jvm };
	struct rec_class_site *site;
	struct rec_loader *loader;
	uint32_t id;

	row.stack = stack_of(s);
	row.thread = decode_thread(s->p, s->rec, &event->event);
	row.time_ns = classes_time(s->d, event->event.time_ns);
	row.loader = classes_find_loader(s->t, s->p, s->rec, event->loader, event->generation);
	loader = rec_loader_get(s->rec, row.loader);
	if (loader && !loader->name)
		classes_describe_loader(s->classes, s->p, s->rec, row.loader);
	take_names(s);
	row.name = name_string(s);
	row.flags = flags_of(s) | more_flags;
	fill_facts(s, &row);
	if (!more_flags) {
		row.site = site_of(s, row.loader, row.stack);
		site = rec_class_site_get(s->rec, row.site);
		if (site) {
			site->loaded++;
			site->bytes += row.bytes;
		}
		loader = rec_loader_get(s->rec, row.loader);
		if (loader)
			loader->loaded++;
		count_load(s, &row);
	}
	id = rec_class(s->rec, &row);
	if (!more_flags)
		map64_set(&s->t->live, event->klass, id ? id : UNLISTED | row.site);
}

/* Of a class that was there before we looked nothing is known but its name. */
static uint32_t unknown_site(struct seen *s)
{
	uint32_t loader =
		classes_find_loader(s->t, s->p, s->rec, s->event->loader, s->event->generation);

	take_names(s);
	return site_of(s, loader, 0);
}

/* The row of the class that the event is about; NULL: it is not listed, or may be another one's. */
static struct rec_class *row_of(const struct seen *s)
{
	uint32_t known = 0;

	if (!map64_get(&s->t->live, s->event->klass, &known) || known & UNLISTED ||
	    known <= s->t->unsure)
		return NULL;
	return rec_class_get(s->rec, known);
}

/* Where the class that is unloaded was loaded, if what is known of its address is of such a class.
 */
static uint32_t unloaded_site(struct seen *s)
{
	const struct rec_class_site *site;
	const struct rec_class *row;
	uint32_t id = 0;

	map64_get(&s->t->live, s->event->klass, &id);
	row = id & UNLISTED ? NULL : rec_class_get(s->rec, id);
	id = row ? row->site : id & ~UNLISTED;
	site = rec_class_site_get(s->rec, id);
	take_names(s);
	if (site && site->pattern == classes_string(s->rec, strbuf_text(&s->classes->text)))
		return id;
	return unknown_site(s);
}

static void on_unload(struct seen *s)
{
	struct rec_class *row = row_of(s);
	struct rec_class_site *site;
	struct rec_loader *loader;

	if (row)
		row->end_time_ns = classes_time(s->d, s->event->event.time_ns);
	site = rec_class_site_get(s->rec, row ? row->site : unloaded_site(s));
	map64_remove(&s->t->live, s->event->klass);
	if (site)
		site->unloaded++;
	loader = rec_loader_get(s->rec, classes_find_loader(s->t, s->p, s->rec, s->event->loader,
							    s->event->generation));
	if (loader)
		loader->unloaded++;
}

/* Whether the thread was in an agent's premain; a stack that is not known says nothing. */
static bool is_in_agent(const struct recording *rec, uint32_t id)
{
	struct rec_stack stack = rec_stack_get(rec, id);

	for (uint32_t i = 0; i < stack.count; i++) {
		const struct rec_frame *frame = rec_frame_get(rec, stack.frames[i]);
		const struct rec_method *method = rec_method_get(rec, frame->method);

		if (!strcmp(rec_text(rec, method->class_name), INSTRUMENTATION))
			return true;
	}
	return false;
}

/*
 * A class that only carries new code to another one is linked, too, and its memory may be another
 * class's when its thread gives back the next lock.
 */
static void on_link(struct seen *s)
{
	uint64_t start_ns = s->event->event.time_ns - s->event->duration_ns;
	struct rec_class *row = row_of(s);

	if (!row || classes_time(s->d, start_ns) < row->time_ns)
		return;
	row->verify_ns = s->event->verify_ns;
	row->rewrite_ns = s->event->rewrite_ns;
	row->link_ns = s->event->duration_ns;
	row->link_time_ns = classes_time(s->d, s->event->event.time_ns);
}

static void on_init(struct seen *s)
{
	struct rec_class_early early = { .jvm = s->p->rec_jvm };
	struct rec_class *row = row_of(s);

	if (row) {
		row->initialize_ns = s->event->duration_ns;
		row->initialize_self_ns = s->event->self_ns;
		row->initialize_time_ns = classes_time(s->d, s->event->event.time_ns);
	}
	if (!(s->event->flags & JVS_CLASS_PREMAIN))
		return;
	early.stack = stack_of(s);
	if (!s->t->premain_count || (early.stack && !is_in_agent(s->rec, early.stack)))
		return;
	early.time_ns = classes_time(s->d, s->event->event.time_ns);
	early.initialize_ns = s->event->duration_ns;
	take_names(s);
	early.name = name_string(s);
	rec_class_early(s->rec, &early);
}

void classes_add(struct classes *classes, struct decoder *d, struct process *p,
		 struct recording *rec, const struct jvs_class_event *event)
{
	struct seen s = { .classes = classes, .d = d, .p = p, .rec = rec, .event = event };

	s.t = &classes->targets[p->index];
	add_class(&s, 0);
}

/* ---- records */

static void on_event(struct seen *s)
{
	switch (s->event->event.kind) {
	case JVS_EVENT_CLASS_LOAD:
		if (s->event->flags & JVS_CLASS_EARLY)
			classes_keep_early(s->t, s->event);
		else
			add_class(s, 0);
		break;
	case JVS_EVENT_CLASS_UNLOAD:
		on_unload(s);
		break;
	case JVS_EVENT_CLASS_REDEFINED:
		add_class(s, REC_CLASS_REDEFINED);
		break;
	case JVS_EVENT_CLASS_LINK:
		on_link(s);
		break;
	case JVS_EVENT_CLASS_INIT:
		on_init(s);
		break;
	case JVS_EVENT_CLASS_PHASE:
		classes_take_phase(s->d, s->p, s->rec, s->event);
		break;
	}
}

void classes_decode(struct decoder *d, struct recording *rec, const void *data, size_t size)
{
	const struct jvs_event *header = data;
	struct process *p = &d->processes[header->target];
	const struct jvs_class_event *event = data;
	const struct jvs_class_loader *loader = data;
	struct seen s = { .classes = d->classes, .d = d, .p = p, .rec = rec, .event = event };

	if (!d->classes || !p->target || !p->rec_jvm)
		return;
	s.t = &d->classes->targets[p->index];
	if (header->kind == JVS_EVENT_CLASS_BYTES) {
		classes_take_bytes(s.t, rec, data, size);
	} else if (header->kind == JVS_EVENT_CLASS_LOADER && size >= sizeof(*loader)) {
		classes_take_loader(d->classes, p, rec, loader);
	} else if (header->kind == JVS_EVENT_CLASS_LOADER_END && size >= JVS_CLASS_LOADER_HEADER) {
		classes_end_loader(d, p, rec, loader);
	} else if (size >= JVS_CLASS_EVENT_HEADER &&
		   event->name_bytes <= size - JVS_CLASS_EVENT_HEADER) {
		on_event(&s);
	} else {
		d->bad_records++;
	}
}
