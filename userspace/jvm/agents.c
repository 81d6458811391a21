/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/agents.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "target/image.h"
#include "target/target.h"

#define INSTRUMENT "instrument" /* the library that runs agents in Java */

/* The members that are read, at their offsets. */
struct agent_library { /* JDK 8 to 17 */
	uint64_t name;
	uint64_t options;
	uint64_t library;
	uint8_t absolute;
	uint8_t others[7];
	uint64_t next;
};
_Static_assert(sizeof(struct agent_library) == 40, "as in the JVM");

struct jvmti_agent {	   /* 21 and later */
	uint64_t begin[2]; /* nanoseconds of the JVM's time; ticks of the CPU */
	uint64_t took[2];
	uint64_t next;
	uint64_t name;
	uint64_t options;
	uint64_t library;
	uint64_t file_path;
	uint64_t instrument;
	uint8_t loaded;
	uint8_t absolute;
	uint8_t built_in;
	uint8_t java;
	uint8_t dynamic;
	uint8_t others[3];
};
_Static_assert(sizeof(struct jvmti_agent) == 88, "as in the JVM");

#define NEXT offsetof(struct agent_library, next)
_Static_assert(NEXT == offsetof(struct jvmti_agent, next), "agents_mark() knows one place");

static const struct {
	const char *symbol;
	bool knows_times;
	bool newest_first;
} lists[] = {
	{ "_ZN9Arguments10_agentListE", false, false },
	{ "_ZN14JvmtiAgentList5_listE", true, true },  /* 21 to 25 */
	{ "_ZN14JvmtiAgentList5_headE", true, false }, /* 26 and later */
};

int agents_find(struct image *libjvm, uint64_t bias, struct agents_place *out)
{
	uint64_t vaddr, size;

	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		if (image_object(libjvm, lists[i].symbol, &vaddr, &size))
			continue;
		*out = (struct agents_place){ .list = vaddr + bias,
					      .knows_times = lists[i].knows_times,
					      .newest_first = lists[i].newest_first };
		if (!image_object(libjvm, "_ZL18initial_time_count", &vaddr, &size))
			out->time_zero = vaddr + bias;
		return 0;
	}
	return -ENOENT;
}

int agents_mark(const struct target *t, const struct agents_place *place, uint64_t *mark)
{
	uint64_t at, sum = 0;
	int err = target_read_u64(t, place->list, &at);

	for (int i = 0; !err && at && i < AGENTS_MAX; i++) {
		sum = sum * 31 + at;
		err = target_read_u64(t, at + NEXT, &at);
	}
	if (!err)
		*mark = sum;
	return err;
}

static void read_text(const struct target *t, uint64_t addr, char *to)
{
	ssize_t len = addr ? target_read_string(t, addr, to, AGENT_TEXT_MAX) : -ENOENT;

	if (len < 0 && (len != -ENAMETOOLONG || target_read(t, addr, to, AGENT_TEXT_MAX - 1)))
		to[0] = '\0';
	to[AGENT_TEXT_MAX - 1] = '\0';
}

/* "a.jar=x": a jar and its options. Of attached ones JDK 21 and later have them apart. */
static void name_java_agent(struct agent *agent)
{
	size_t jar = strcspn(agent->options, "=");
	size_t rest = agent->options[jar] ? jar + 1 : jar;

	if (strcmp(agent->name, INSTRUMENT) != 0)
		return;
	memcpy(agent->name, agent->options, jar);
	agent->name[jar] = '\0';
	memmove(agent->options, agent->options + rest, strlen(agent->options + rest) + 1);
}

static void complete(struct agent *agent)
{
	const char *option = agent->absolute ? "-agentpath" : "-agentlib";

	if (agent->java)
		name_java_agent(agent);
	snprintf(agent->argument, sizeof(agent->argument), "%s:%s%s%s",
		 agent->java ? "-javaagent" : option, agent->name, *agent->options ? "=" : "",
		 agent->options);
	if (!agent->java && agent->absolute && !*agent->path)
		memcpy(agent->path, agent->name, sizeof(agent->path));
}

static int read_old(const struct target *t, uint64_t at, struct agent *out, uint64_t *next)
{
	struct agent_library row;
	int err = target_read(t, at, &row, sizeof(row));

	if (err)
		return err;
	*out = (struct agent){ .address = at, .absolute = row.absolute == 1 };
	read_text(t, row.name, out->name);
	read_text(t, row.options, out->options);
	out->java = !strcmp(out->name, INSTRUMENT);
	*next = row.next;
	return 0;
}

static int read_new(const struct target *t, const struct agents_place *place, uint64_t at,
		    struct agent *out, uint64_t *next)
{
	struct jvmti_agent row;
	uint64_t zero = 0;
	int err = target_read(t, at, &row, sizeof(row));

	if (err)
		return err;
	*out = (struct agent){ .address = at,
			       .absolute = row.absolute == 1,
			       .java = row.java == 1,
			       .knows_dynamic = true,
			       .dynamic = row.dynamic == 1 };
	read_text(t, row.name, out->name);
	read_text(t, row.options, out->options);
	if (!out->java)
		read_text(t, row.file_path, out->path);
	if (row.begin[0] && place->time_zero && !target_read_u64(t, place->time_zero, &zero)) {
		out->begin_ns = zero + row.begin[0];
		out->took_ns = row.took[0];
	}
	*next = row.next;
	return 0;
}

static void reverse(struct agent *agents, int count)
{
	struct agent kept;

	for (int i = 0; i < count / 2; i++) {
		kept = agents[i];
		agents[i] = agents[count - 1 - i];
		agents[count - 1 - i] = kept;
	}
}

int agents_read(const struct target *t, const struct agents_place *place,
		struct agent out[AGENTS_MAX])
{
	uint64_t at = 0;
	int count = 0;
	int err = target_read_u64(t, place->list, &at);

	while (!err && at && count < AGENTS_MAX) {
		err = place->knows_times ? read_new(t, place, at, &out[count], &at)
					 : read_old(t, at, &out[count], &at);
		if (!err)
			complete(&out[count++]);
	}
	if (err)
		return err;
	if (place->newest_first)
		reverse(out, count);
	return count;
}
