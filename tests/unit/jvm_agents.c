/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/agents.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "target/target.h"
#include "unit/unit.h"

/* Lists as JVMs have them, in our own memory. */
struct old_agent {
	const char *name;
	const char *options;
	void *library;
	bool absolute, built_in, instrument;
	int state;
	struct old_agent *next;
};

struct new_agent {
	int64_t begin[2], took[2];
	struct new_agent *next;
	const char *name;
	const char *options;
	void *library;
	const char *path;
	void *instrument;
	bool loaded, absolute, built_in, java, dynamic, xrun;
};

static struct target *self;
static struct agents_place place;
static struct agent agents[AGENTS_MAX];
static void *head[2];
static uint64_t time_zero = 1000000;

static void setup(void)
{
	ASSERT_INT(target_open(getpid(), &self), 0);
	place = (struct agents_place){ .list = (uint64_t)(uintptr_t)head,
				       .time_zero = (uint64_t)(uintptr_t)&time_zero };
	head[0] = head[1] = NULL;
}

static void teardown(void)
{
	target_close(self);
}

static void the_old_list_names_libraries_and_jars(void)
{
	struct old_agent java = { .name = "instrument", .options = "/a.jar=x=y" };
	struct old_agent native = {
		.name = "/a/n.so", .options = "opt", .absolute = true, .next = &java
	};

	head[0] = &native;
	ASSERT_INT(agents_read(self, &place, agents), 2);
	CU_ASSERT_FALSE(agents[0].java || agents[0].knows_dynamic);
	CU_ASSERT_STRING_EQUAL(agents[0].argument, "-agentpath:/a/n.so=opt");
	CU_ASSERT_STRING_EQUAL(agents[0].path, "/a/n.so");
	ASSERT_INT(agents[0].begin_ns, 0);
	CU_ASSERT_TRUE(agents[1].java);
	CU_ASSERT_STRING_EQUAL(agents[1].name, "/a.jar");
	CU_ASSERT_STRING_EQUAL(agents[1].options, "x=y");
	CU_ASSERT_STRING_EQUAL(agents[1].argument, "-javaagent:/a.jar=x=y");
	CU_ASSERT_STRING_EQUAL(agents[1].path, "");
}

static void a_newer_list_knows_times_and_who_was_attached(void)
{
	struct new_agent first = { .name = "jdwp", .path = "/j/libjdwp.so" };
	struct new_agent second = { .name = "b.jar",
				    .options = "z",
				    .java = true,
				    .dynamic = true,
				    .begin = { 500, 7 },
				    .took = { 40, 9 },
				    .next = &first };

	head[0] = &second;
	place.knows_times = place.newest_first = true;
	ASSERT_INT(agents_read(self, &place, agents), 2);
	CU_ASSERT_STRING_EQUAL(agents[0].argument, "-agentlib:jdwp");
	CU_ASSERT_STRING_EQUAL(agents[0].path, "/j/libjdwp.so");
	CU_ASSERT_TRUE(agents[0].knows_dynamic && !agents[0].dynamic);
	CU_ASSERT_TRUE(agents[1].java && agents[1].dynamic);
	/* The jar and the options of an attached one are apart. */
	CU_ASSERT_STRING_EQUAL(agents[1].name, "b.jar");
	CU_ASSERT_STRING_EQUAL(agents[1].options, "z");
	ASSERT_INT(agents[1].begin_ns, 1000500);
	ASSERT_INT(agents[1].took_ns, 40);
}

static void the_newest_list_is_in_order(void)
{
	struct new_agent second = { .name = "b" };
	struct new_agent first = { .name = "a", .next = &second };

	head[0] = &first;
	place.knows_times = true;
	ASSERT_INT(agents_read(self, &place, agents), 2);
	CU_ASSERT_STRING_EQUAL(agents[0].name, "a");
}

static void the_mark_changes_with_the_list(void)
{
	struct old_agent second = { .name = "b" }, first = { .name = "a" };
	uint64_t none, one, two;

	ASSERT_INT(agents_mark(self, &place, &none), 0);
	head[0] = &first;
	ASSERT_INT(agents_mark(self, &place, &one), 0);
	first.next = &second;
	ASSERT_INT(agents_mark(self, &place, &two), 0);
	ASSERT_INT(none, 0);
	CU_ASSERT_TRUE(one != none && two != one);
}

static void nonsense_ends(void)
{
	char text[AGENT_TEXT_MAX + 100];
	struct old_agent loop = { .name = text, .options = (const char *)8 };

	memset(text, 'n', sizeof(text));
	loop.next = &loop;
	head[0] = &loop;
	ASSERT_INT(agents_read(self, &place, agents), AGENTS_MAX);
	ASSERT_INT(strlen(agents[0].name), AGENT_TEXT_MAX - 1);
	CU_ASSERT_STRING_EQUAL(agents[0].options, "");
	head[0] = (void *)8;
	ASSERT_INT(agents_read(self, &place, agents), -EFAULT);
	ASSERT_INT(agents_mark(self, &place, &(uint64_t){ 0 }), -EFAULT);
}

static CU_TestInfo tests[] = {
	{ "the old list names libraries and jars", the_old_list_names_libraries_and_jars },
	{ "a newer list knows times and who was attached",
	  a_newer_list_knows_times_and_who_was_attached },
	{ "the newest list is in order", the_newest_list_is_in_order },
	{ "the mark changes with the list", the_mark_changes_with_the_list },
	{ "nonsense ends", nonsense_ends },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo jvm_agents_suite = {
	.pName = "jvm/agents",
	.pSetUpFunc = setup,
	.pTearDownFunc = teardown,
	.pTests = tests,
};
