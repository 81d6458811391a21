/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "jfr/jfr_events.h"
#include "jfr/jfr_write_impl.h"
#include "model/classes.h"

/* Events of class loads. Rows of the recording are in the order they became known. */

/* What was said of a row. */
enum said { SAID_LOAD = 1, SAID_UNLOAD = 2, SAID_LINK = 4, SAID_INITIALIZE = 8 };

/* What such events begin with, behind their time. */
static void put_context(struct jfr_writer *w, const struct recording *rec,
			const struct rec_class *class)
{
	jfr_put_long(&w->bytes, jfr_pools_thread(w->pools, rec, class->thread));
	jfr_put_long(&w->bytes, jfr_pools_stack(w->pools, rec, class->stack));
}

static void put_names(struct jfr_writer *w, const struct recording *rec,
		      const struct rec_class *class)
{
	jfr_put_long(&w->bytes, jfr_pools_class(w->pools, rec, class->name));
	jfr_put_long(&w->bytes, jfr_pools_loader(w->pools, rec, class->loader));
}

static void put_load(struct jfr_writer *w, const struct recording *rec,
		     const struct rec_class *class)
{
	size_t at = jfr_begin(w, JFR_CLASS_LOAD, class->time_ns - (int64_t) class->duration_ns);

	jfr_put_long(&w->bytes, class->duration_ns);
	put_context(w, rec, class);
	put_names(w, rec, class);
	/* Who was asked first is not known. */
	jfr_put_long(&w->bytes, jfr_pools_loader(w->pools, rec, class->loader));
	jfr_end_event(&w->bytes, at);

	at = jfr_begin(w, JFR_CLASS_DEFINE, class->time_ns);
	put_context(w, rec, class);
	put_names(w, rec, class);
	jfr_end_event(&w->bytes, at);
}

static void put_file(struct jfr_writer *w, const struct recording *rec,
		     const struct rec_class *class)
{
	size_t at = jfr_begin(w, JFR_CLASS_FILE, class->time_ns);

	put_context(w, rec, class);
	put_names(w, rec, class);
	jfr_put_text(&w->bytes, class->source ? rec_text(rec, class->source) : NULL);
	jfr_put_byte(&w->bytes, class->flags & REC_CLASS_ARCHIVED ? 1 : 0);
	jfr_put_byte(&w->bytes, class->flags & REC_CLASS_REDEFINED ? 1 : 0);
	jfr_put_byte(&w->bytes, class->flags & REC_CLASS_TRANSFORMED ? 1 : 0);
	jfr_put_long(&w->bytes, class->bytes);
	jfr_put_long(&w->bytes, class->bytes_after);
	jfr_put_long(&w->bytes, rec_class_read_ns(rec, class));
	jfr_put_long(&w->bytes, class->parse_ns);
	jfr_put_long(&w->bytes, class->transform_ns);
	jfr_end_event(&w->bytes, at);
}

static void put_link(struct jfr_writer *w, const struct recording *rec,
		     const struct rec_class *class)
{
	size_t at = jfr_begin(w, JFR_CLASS_LINK, class->link_time_ns - (int64_t) class->link_ns);

	jfr_put_long(&w->bytes, class->link_ns);
	put_names(w, rec, class);
	jfr_put_long(&w->bytes, class->verify_ns);
	jfr_put_long(&w->bytes, class->rewrite_ns);
	jfr_end_event(&w->bytes, at);
}

static void put_initialize(struct jfr_writer *w, const struct recording *rec,
			   const struct rec_class *class)
{
	size_t at = jfr_begin(w, JFR_CLASS_INITIALIZE,
			      class->initialize_time_ns - (int64_t) class->initialize_ns);

	jfr_put_long(&w->bytes, class->initialize_ns);
	put_names(w, rec, class);
	jfr_put_long(&w->bytes, class->initialize_self_ns);
	jfr_end_event(&w->bytes, at);
}

static void put_unload(struct jfr_writer *w, const struct recording *rec,
		       const struct rec_class *class)
{
	size_t at = jfr_begin(w, JFR_CLASS_UNLOAD, class->end_time_ns);

	/* Whose thread it is, the VM's, is not kept. */
	jfr_put_long(&w->bytes, 0);
	put_names(w, rec, class);
	jfr_end_event(&w->bytes, at);
}

static void put_counts(struct jfr_writer *w, const struct recording *rec, int64_t end_ns)
{
	size_t count, at;
	const struct rec_count *counts = rec_class_counts(rec, &count);
	const struct rec_jvm *jvm;

	for (size_t i = 0; i < count; i++) {
		if (!counts[i].value)
			continue;
		jvm = rec_jvm_get(rec, counts[i].jvm);
		at = jfr_begin(w, JFR_CLASS_COUNT, end_ns);
		jfr_put_long(&w->bytes, jvm ? (uint64_t)jvm->pid : 0);
		jfr_put_text(&w->bytes, rec_text(rec, counts[i].name));
		jfr_put_long(&w->bytes, counts[i].value);
		jfr_end_event(&w->bytes, at);
	}
}

/* When an agent began, by the clock of the file, and how long it took. */
static void put_agent(struct jfr_writer *w, const struct recording *rec,
		      const struct rec_class_agent *agent, int64_t end_ns)
{
	size_t at = jfr_begin(w, agent->java ? JFR_JAVA_AGENT : JFR_NATIVE_AGENT, end_ns);

	jfr_put_text(&w->bytes, rec_text(rec, agent->name));
	jfr_put_text(&w->bytes, agent->options ? rec_text(rec, agent->options) : NULL);
	jfr_put_byte(&w->bytes, agent->dynamic ? 1 : 0);
	jfr_put_long(&w->bytes, agent->time_ns ? jfr_ticks(w, agent->time_ns) : 0);
	jfr_put_long(&w->bytes, agent->premain_ns ? agent->premain_ns : agent->initialize_ns);
	if (!agent->java)
		jfr_put_text(&w->bytes, agent->path ? rec_text(rec, agent->path) : NULL);
	jfr_end_event(&w->bytes, at);
}

static bool is_same(const struct rec_class_agent *a, const struct rec_class_agent *b)
{
	return a->time_ns == b->time_ns && a->premain_ns == b->premain_ns &&
	       a->initialize_ns == b->initialize_ns;
}

/* Agents that the chunk does not have yet, or not as they are known now. */
static void put_agents(struct jfr_writer *w, const struct recording *rec, int64_t end_ns)
{
	uint32_t count = rec_class_agent_count(rec);
	struct rec_class_agent *rows = reallocarray(w->agents, count + 1, sizeof(*rows));

	if (!rows) {
		w->failed = true;
		return;
	}
	w->agents = rows;
	for (uint32_t i = 0; i < count; i++) {
		const struct rec_class_agent *agent = rec_class_agent_get(rec, i + 1);

		if (i < w->agent_count && is_same(&rows[i], agent))
			continue;
		put_agent(w, rec, agent, end_ns);
		rows[i] = *agent;
	}
	w->agent_count = count;
}

/* What is known of a class and was not said. */
static void put_class(struct jfr_writer *w, const struct recording *rec,
		      const struct rec_class *class, uint8_t *said)
{
	if (!(*said & SAID_LOAD)) {
		if (!(class->flags & REC_CLASS_REDEFINED))
			put_load(w, rec, class);
		put_file(w, rec, class);
		*said |= SAID_LOAD;
	}
	if (class->link_ns && !(*said & SAID_LINK)) {
		put_link(w, rec, class);
		*said |= SAID_LINK;
	}
	if (class->initialize_ns && !(*said & SAID_INITIALIZE)) {
		put_initialize(w, rec, class);
		*said |= SAID_INITIALIZE;
	}
	if (class->end_time_ns && !(*said & SAID_UNLOAD)) {
		put_unload(w, rec, class);
		*said |= SAID_UNLOAD;
	}
}

void jfr_put_classes(struct jfr_writer *w, const struct recording *rec, int64_t end_ns)
{
	uint32_t count = rec_class_count(rec);
	uint8_t *said;

	if (!rec_has_classes(rec))
		return;
	said = jfr_reach(w, w->classes, &w->class_capacity, count, sizeof(*said));
	if (!said)
		return;
	w->classes = said;
	for (uint32_t i = 0; i < count; i++)
		put_class(w, rec, rec_class_get(rec, i + 1), &said[i]);
	put_counts(w, rec, end_ns);
	put_agents(w, rec, end_ns);
}
