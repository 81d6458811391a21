/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "live/classes_impl.h"
#include "live/decode.h"
#include "live/process.h"
#include "model/recording.h"
#include "target/target.h"

/* Agents of a JVM, and how it starts with them. */

/* ---- what the JVM lists */

static struct class_agent *find_agent(struct class_target *t, uint64_t address)
{
	for (uint32_t i = 0; i < t->agent_count; i++)
		if (t->agents[i].address == address)
			return &t->agents[i];
	if (t->agent_count == AGENTS_MAX)
		return NULL;
	t->agents[t->agent_count].address = address;
	return &t->agents[t->agent_count++];
}

/* What the JVM does not say follows from its arguments: they name all but the attached ones. */
static bool is_dynamic(const struct recording *rec, const struct process *p,
		       const struct agent *agent)
{
	const struct rec_jvm *jvm = rec_jvm_get(rec, p->rec_jvm);
	const char *arguments = jvm ? rec_text(rec, jvm->arguments) : "";

	return agent->knows_dynamic ? agent->dynamic : !strstr(arguments, agent->argument);
}

static uint32_t add_row(struct recording *rec, const struct process *p, const struct agent *agent)
{
	struct rec_class_agent row = { .jvm = p->rec_jvm, .java = agent->java };

	row.dynamic = is_dynamic(rec, p, agent);
	row.name = classes_string(rec, agent->name);
	row.options = classes_string(rec, agent->options);
	row.path = classes_string(rec, agent->path);
	if (!row.dynamic)
		row.argument = classes_string(rec, agent->argument);
	return rec_class_agent(rec, &row);
}

static void take_agent(struct class_target *t, const struct decoder *d, const struct process *p,
		       struct recording *rec, const struct agent *agent)
{
	struct class_agent *known = find_agent(t, agent->address);
	struct rec_class_agent *row;

	if (!known)
		return;
	if (!known->row)
		known->row = add_row(rec, p, agent);
	row = rec_class_agent_get(rec, known->row);
	if (!row)
		return;
	/* Of a library on the command line the JVM measures what it does later, at VMInit. */
	if (agent->begin_ns && (agent->java || agent->dynamic)) {
		row->time_ns = classes_time(d, agent->begin_ns);
		row->initialize_ns = agent->took_ns;
	} else if (known->begin_ns) {
		row->time_ns = known->begin_ns;
		row->initialize_ns = known->took_ns;
	}
}

/* The calls of premain, in the order of the agents they are of. */
static void take_premains(const struct class_target *t, const struct process *p,
			  struct recording *rec)
{
	uint32_t n = 0;

	for (uint32_t id = 1; id <= rec_class_agent_count(rec) && n < t->premain_count; id++) {
		struct rec_class_agent *row = rec_class_agent_get(rec, id);

		if (row->jvm != p->rec_jvm || !row->java || row->dynamic)
			continue;
		row->time_ns = t->premains[n].begin_ns;
		row->premain_ns = t->premains[n++].took_ns;
	}
}

void classes_look_at_agents(struct classes *classes, const struct decoder *d,
			    const struct process *p, struct recording *rec)
{
	struct class_target *t = &classes->targets[p->index];
	struct agent *agents;
	uint64_t mark;
	int count;

	if (!t->agents_place.list || agents_mark(p->target, &t->agents_place, &mark) ||
	    mark == t->agents_mark)
		return;
	agents = calloc(AGENTS_MAX, sizeof(*agents));
	count = agents ? agents_read(p->target, &t->agents_place, agents) : 0;
	for (int i = 0; i < count; i++)
		take_agent(t, d, p, rec, &agents[i]);
	free(agents);
	if (count >= 0)
		t->agents_mark = mark;
	take_premains(t, p, rec);
}

static bool is_listed(const struct class_target *t)
{
	for (uint32_t i = 0; i < t->agent_count; i++)
		if (t->agents[i].row)
			return true;
	return false;
}

/* ---- what the command line says, where the list cannot be read */

static void take_option(const struct process *p, struct recording *rec, const char *option,
			size_t len)
{
	static const char java[] = "-javaagent:", path[] = "-agentpath:";
	struct rec_class_agent row = { .jvm = p->rec_jvm };
	const char *name = strchr(option, ':') + 1;
	size_t name_len = strcspn(name, "= ");

	row.java = !strncmp(option, java, strlen(java));
	row.argument = rec_string(rec, option, len);
	row.name = rec_string(rec, name, name_len);
	row.path = strncmp(option, path, strlen(path)) ? 0 : row.name;
	if (name[name_len] == '=')
		row.options = rec_string(rec, name + name_len + 1,
					 len - (size_t)(name + name_len + 1 - option));
	rec_class_agent(rec, &row);
}

static void take_options(const struct process *p, struct recording *rec)
{
	static const char *const options[] = { "-javaagent:", "-agentlib:", "-agentpath:" };
	const struct rec_jvm *jvm = rec_jvm_get(rec, p->rec_jvm);
	char *arguments = strdup(jvm ? rec_text(rec, jvm->arguments) : "");
	char *rest = arguments, *option;

	while (rest && (option = strsep(&rest, " ")))
		for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
			if (!strncmp(option, options[i], strlen(options[i])))
				take_option(p, rec, option, strlen(option));
	free(arguments);
}

void classes_finish_agents(struct classes *classes, const struct process *p, struct recording *rec)
{
	struct class_target *t = &classes->targets[p->index];

	if (!t->options_taken && !is_listed(t) &&
	    (!t->agents_place.list || p->state == PROCESS_ENDED)) {
		take_options(p, rec);
		t->options_taken = true;
	}
	take_premains(t, p, rec);
}

/* ---- how a JVM starts */

/* A premain ends where the next begins, or main. */
static void end_premain(struct class_target *t, int64_t now_ns)
{
	struct class_premain *last = t->premain_count ? &t->premains[t->premain_count - 1] : NULL;

	if (last && !last->took_ns)
		last->took_ns = (uint64_t)(now_ns - last->begin_ns);
}

static void begin_premain(struct class_target *t, int64_t now_ns)
{
	end_premain(t, now_ns);
	if (t->premain_count < AGENTS_MAX)
		t->premains[t->premain_count++] = (struct class_premain){ .begin_ns = now_ns };
}

static void on_loaded(struct class_target *t, struct class_agent *agent, int64_t now_ns)
{
	if (agent && agent->begin_ns && !agent->took_ns)
		agent->took_ns = (uint64_t)(now_ns - agent->begin_ns);
	/* It may be listed already. */
	t->agents_mark = 0;
}

/* The agent whose function runs, of those that the command line names: the last that began. */
static struct class_agent *last_agent(struct class_target *t)
{
	return t->agent_count ? &t->agents[t->agent_count - 1] : NULL;
}

/* One that is listed runs its function for the end of the JVM. */
static void on_loading(struct class_target *t, uint64_t address, int64_t now_ns)
{
	struct class_agent *before = last_agent(t), *agent = find_agent(t, address);

	if (!agent || agent->row)
		return;
	if (agent != before)
		on_loaded(t, before, now_ns);
	agent->begin_ns = now_ns;
}

void classes_take_phase(struct decoder *d, const struct process *p, struct recording *rec,
			const struct jvs_class_event *event)
{
	struct class_target *t = &d->classes->targets[p->index];
	struct rec_class_start *start = rec_class_start(rec, p->rec_jvm);
	int64_t now_ns = classes_time(d, event->event.time_ns);

	if (!start)
		return;
	switch ((enum jvs_class_phase)event->flags) {
	case JVS_CLASS_PHASE_INITIALIZED:
		start->initialized_ns = now_ns;
		classes_look_at_agents(d->classes, d, p, rec);
		break;
	case JVS_CLASS_PHASE_AGENT:
		begin_premain(t, now_ns);
		break;
	case JVS_CLASS_PHASE_MAIN: /* not at the next tick: a program may be short */
		end_premain(t, now_ns);
		t->in_main = true;
		start->main_ns = now_ns;
		t->agents_mark = 0; /* those in Java are initialized by now */
		classes_look_at_agents(d->classes, d, p, rec);
		break;
	case JVS_CLASS_PHASE_HOOK:
		start->first_hook_ns = now_ns;
		break;
	case JVS_CLASS_PHASE_LOADING:
		on_loading(t, event->klass, now_ns);
		break;
	case JVS_CLASS_PHASE_ALL_LOADED:
		on_loaded(t, last_agent(t), now_ns);
		break;
	case JVS_CLASS_PHASE_LOADED:
		on_loaded(t, find_agent(t, event->klass), now_ns);
		break;
	}
}
