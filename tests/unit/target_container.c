/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "target/container.h"
#include "unit/unit.h"

#define TABLE "tests/unit/data/cgroup_paths.tsv"

static struct container container;

static void setup(void)
{
	container = (struct container){ 0 };
}

/* "4:memory:/path" to "/path" */
static const char *path_of_line(const char *line)
{
	return strchr(strchr(line, ':') + 1, ':') + 1;
}

static const char *or_dash(const char *text)
{
	return *text ? text : "-";
}

static void agrees_with_the_table(void)
{
	FILE *file = fopen(TABLE, "re");
	size_t size = 0;
	char *line = NULL;
	char *next;
	int rows = 0;

	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	while (getline(&line, &size, file) >= 0) {
		if (line[0] == '#')
			continue;
		setup();
		next = line;
		container_of_path(path_of_line(strsep(&next, "\t")), &container);
		CU_ASSERT_STRING_EQUAL(or_dash(container.pod_uid), strsep(&next, "\t"));
		CU_ASSERT_STRING_EQUAL(or_dash(container.id), strsep(&next, "\t"));
		rows++;
	}
	free(line);
	fclose(file);
	ASSERT_INT(rows, 20);
}

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static void reads_forms_outside_the_table(void)
{
	static const struct {
		const char *path;
		const char *id;
	} cases[] = {
		{ "/ecs/my-task/0123456789abcdef0123456789abcdef-1234567890",
		  "0123456789abcdef0123456789abcdef-1234567890" },
		{ "/docker/" ID "/init", ID },
		{ "/libpod_parent/libpod-" ID, ID },
		{ "/" ID, ID },
		{ ID, ID },
		{ "/" ID "0", "-" },
		{ "/x" ID, "-" },
		{ "/x.scope", "-" },
		{ "/.scope", "-" },
		{ "", "-" },
		{ "/0123456789abcdef0123456789abcdef-", "-" },
		{ "/0123456789abcdef0123456789abcdef-12x", "-" },
		{ "/0123456789abcdef0123456789abcdef-99999999999999999999999999999999999", "-" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		setup();
		container_of_path(cases[i].path, &container);
		CU_ASSERT_STRING_EQUAL(or_dash(container.id), cases[i].id);
		CU_ASSERT_STRING_EQUAL(container.pod_uid, "");
	}
}

static void keeps_what_the_first_path_said(void)
{
	container_of_path("/a/" ID, &container);
	container_of_path("/b/ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
			  &container);
	CU_ASSERT_STRING_EQUAL(container.id, ID);
}

/* Any bytes: nothing is read outside and nothing is made up. */
static void survives_garbage(void)
{
	static const char letters[] = "/:-_.podscope0123456789abcdefX";
	char *path;
	size_t len;

	srand(1);
	for (int round = 0; round < 20000; round++) {
		len = (size_t)rand() % 200;
		path = malloc(len + 1);
		for (size_t i = 0; i < len; i++)
			path[i] = rand() % 8 ? letters[(size_t)rand() % (sizeof(letters) - 1)]
					     : (char)(1 + rand() % 255);
		path[len] = '\0';
		setup();
		container_of_path(path, &container);
		CU_ASSERT_FATAL(strlen(container.id) < CONTAINER_ID_MAX);
		CU_ASSERT_FATAL(strlen(container.pod_uid) < CONTAINER_POD_MAX);
		free(path);
	}
}

static void never_fails_for_a_pid(void)
{
	memset(&container, 'x', sizeof(container));
	container_of_pid(0x3ffffff, &container);
	CU_ASSERT_STRING_EQUAL(container.id, "");
	CU_ASSERT_STRING_EQUAL(container.pod_uid, "");
	container_of_pid(getpid(), &container);
}

static CU_TestInfo tests[] = {
	{ "agrees with the table", agrees_with_the_table },
	{ "reads forms outside the table", reads_forms_outside_the_table },
	{ "keeps what the first path said", keeps_what_the_first_path_said },
	{ "survives garbage", survives_garbage },
	{ "never fails for a pid", never_fails_for_a_pid },
	CU_TEST_INFO_NULL,
};

const CU_SuiteInfo target_container_suite = {
	.pName = "container",
	.pSetUpFunc = setup,
	.pTests = tests,
};
